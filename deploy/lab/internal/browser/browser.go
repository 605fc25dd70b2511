// Package browser drives a real Chromium for the tests of the pages. One browser serves all tests; each test opens tabs
// of its own, which share neither storage nor cache. A tab records all that a visitor would never see and that must not
// happen: messages in the console, exceptions, requests, violations of the policy, dialogs and layout shifts.
//
// The browser can reach 127.0.0.1 alone.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"github.com/chromedp/chromedp"
)

// maxTabs keeps a small machine from timing out for want of a processor.
const maxTabs = 3

// Browser is one headless Chromium.
type Browser struct {
	ctx    context.Context
	cancel []context.CancelFunc
	slots  chan struct{}
	axe    string
}

// Start runs Chromium and reads axe-core. LAB_CHROMIUM names the program where it is not on the path by a usual name;
// LAB_AXE names axe.min.js. Where one is missing that is an error, never a reason to skip. Options win
// over the usual ones.
func Start(options ...chromedp.ExecAllocatorOption) (*Browser, error) {
	program, err := find()
	if err != nil {
		return nil, err
	}
	axe, err := os.ReadFile(os.Getenv("LAB_AXE"))
	if err != nil {
		return nil, fmt.Errorf("axe-core is missing (LAB_AXE names its axe.min.js; make e2e installs it): %w", err)
	}
	b := &Browser{slots: make(chan struct{}, maxTabs), axe: string(axe)}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), append(flags(program), options...)...)
	ctx, end := chromedp.NewContext(allocator)
	b.ctx, b.cancel = ctx, []context.CancelFunc{end, cancel}
	if err := chromedp.Do(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return b, nil
}

// Close ends the browser and takes its profile away.
func (b *Browser) Close() {
	for _, cancel := range b.cancel {
		cancel()
	}
}

func find() (string, error) {
	if path := os.Getenv("LAB_CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("chromium is missing: install it, or name it in LAB_CHROMIUM")
}

func flags(program string) []chromedp.ExecAllocatorOption {
	return append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.DisableGPU,
		chromedp.Flag("no-sandbox", os.Geteuid() == 0),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("hide-scrollbars", true),
		// Each window would load the pages of an address bar that headless Chromium never shows, in two more processes.
		chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,"+
			"WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,WebUIOmniboxSimplification"),
		chromedp.ModifyCmdFunc(lowPriority),
		// Nothing else can be reached, whatever a page requests and whatever Chromium does by itself.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
	)
}

// lowPriority has Chromium take what the lab leaves of the processors, so that times which are measured beside it hold,
// and end with the test. Without CAP_SYS_NICE it cannot raise its own priority again, as it does as root.
func lowPriority(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	before := []string{"nice", "-n", "10"}
	if os.Geteuid() == 0 {
		before = append([]string{"setpriv", "--bounding-set", "-sys_nice"}, before...)
	}
	if program, err := exec.LookPath(before[0]); err == nil {
		cmd.Path, cmd.Args = program, slices.Concat(before, []string{cmd.Path}, cmd.Args[1:])
	}
}
