package web

import (
	"encoding/xml"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// An icon is one file: a tool's own icon.svg, or one of the glyphs that are no tool's. Two things are made of it: a
// symbol of the sprite, for the pages, and a picture on a ground for the browser's tab.
const (
	sprite  = "icons.svg"
	tabIcon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">` +
		`<rect width="32" height="32" rx="7" fill="#14598c"/><g transform="translate(4 4)" fill="none" ` +
		`stroke="#fff" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">%s</g></svg>` + "\n"
)

// tabIconName is the asset that a page shows in the browser's tab.
func tabIconName(icon string) string { return "icons/" + icon + ".svg" }

// drawing is an icon's file. Whatever else its root says of strokes is for programs that show it alone: the pages have
// styles of their own.
type drawing struct {
	XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
	ViewBox string   `xml:"viewBox,attr"`
	Shapes  string   `xml:",innerxml"`
}

// drawIcons gives the assets that are made of the icons.
func drawIcons(files fs.FS) (map[string][]byte, error) {
	shapes, err := readIcons(files)
	if err != nil {
		return nil, err
	}
	made := map[string][]byte{}
	var symbols strings.Builder
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		fmt.Fprintf(&symbols, `<symbol id="%s" viewBox="0 0 24 24">%s</symbol>`+"\n", name, shapes[name])
		made[tabIconName(name)] = fmt.Appendf(nil, tabIcon, shapes[name])
	}
	made[sprite] = []byte(`<svg xmlns="http://www.w3.org/2000/svg">` + "\n" + symbols.String() + "</svg>\n")
	return made, nil
}

// readIcons gives the shapes of every icon by its name, which is the slug where it is a tool's.
func readIcons(files fs.FS) (map[string]string, error) {
	shapes := map[string]string{}
	err := fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		name, isIcon := iconName(file)
		if err != nil || entry.IsDir() || !isIcon {
			return err
		}
		if _, taken := shapes[name]; taken {
			return fmt.Errorf("%s: there is another icon called %s", sourceName(file), name)
		}
		shapes[name], err = readIcon(files, file)
		return err
	})
	return shapes, err
}

// iconName reports whether a file is an icon, and its name.
func iconName(file string) (string, bool) {
	folder, base := path.Split(file)
	if slug, ok := strings.CutPrefix(path.Clean(folder), "tools/"); ok && base == iconFile {
		return slug, true
	}
	name, ok := strings.CutSuffix(base, ".svg")
	return name, ok && folder == "glyphs/"
}

func readIcon(files fs.FS, file string) (string, error) {
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return "", err
	}
	var d drawing
	if err := xml.Unmarshal(text, &d); err != nil {
		return "", fmt.Errorf("%s: %w", sourceName(file), err)
	}
	if d.ViewBox != "0 0 24 24" {
		return "", fmt.Errorf(`%s: the viewBox is %q, and an icon's is "0 0 24 24"`, sourceName(file), d.ViewBox)
	}
	return strings.TrimSpace(d.Shapes), nil
}

// glyph is an icon of the sprite, in the colour of the text around it.
func (a *assets) glyph(name string) (template.HTML, error) {
	if _, err := a.url(tabIconName(name)); err != nil {
		return "", err
	}
	at, err := a.url(sprite)
	if err != nil {
		return "", err
	}
	markup := `<svg class="glyph" width="24" height="24" aria-hidden="true"><use href="` + at + "#" +
		template.HTMLEscapeString(name) + `"/></svg>`
	return template.HTML(markup), nil // #nosec G203 -- made of our own names, escaped
}
