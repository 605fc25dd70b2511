//go:build compose

package compose

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/netns"
	"diagnostics/shared/waittest"
)

const (
	hostAddress   = "11.65.0.1" // of this machine, to its visitors and to targets
	uplinkNet     = "11.65.0.0/30"
	routerAddress = "11.65.0.2"
	routerInside  = "11.66.0.1"
	serverAddress = "11.66.0.2"
	resolver      = "11.77.53.1"
	visitorRange  = "11.95.0.0/16"

	worldImage = project + "-internet"
	routerName = project + "-router"
	serverName = project + "-internet"
	uplink     = "dgtest0"
	// routingTable is what the containers' packets go by once they leave their network, and the priority of its rules.
	routingTable = "24130"
)

// world is the internet around the stack.
type world struct {
	dir string
	// visitors is where visitors connect from.
	visitors *netns.NS
}

func newWorld() *world {
	return &world{dir: filepath.Join(os.TempDir(), project)}
}

// ranges are the addresses of visitors and of the lab's servers.
func ranges() []string {
	all := []string{visitorRange}
	for _, r := range lab.HereNeeds() {
		all = append(all, r.String())
	}
	return all
}

// start runs the two containers and joins them and this machine by cables, as no network of Docker is between a host
// and the internet.
func (w *world) start(root string) error {
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return err
	}
	if err := w.makeImage(root); err != nil {
		return err
	}
	router, err := runContainer(routerName, "--network", "none", "--sysctl", "net.ipv4.ip_forward=1",
		"--sysctl", "net.ipv4.icmp_ratelimit=0", worldImage)
	if err != nil {
		return err
	}
	server, err := runContainer(serverName, "--network", "none", "--sysctl", "net.ipv4.ip_nonlocal_bind=1",
		"--sysctl", "net.ipv6.ip_nonlocal_bind=1", "--volume", w.dir+":/lab", worldImage, "/lab")
	if err != nil {
		return err
	}
	if w.visitors, err = netns.OpenProcess(server); err != nil {
		return err
	}
	if err := commands(append(cables(router, server), routes()...)); err != nil {
		return err
	}
	return w.awaitServers()
}

// cables are the commands that lay the cables and say what is where.
func cables(router, server int) [][]string {
	inRouter, inServer := inside(router), inside(server)
	all := [][]string{
		{"ip", "link", "add", uplink, "type", "veth", "peer", "name", "up0", "netns", strconv.Itoa(router)},
		{"ip", "address", "add", hostAddress + "/30", "dev", uplink},
		{"ip", "link", "set", uplink, "up"},
		// Visitors' addresses are not where the main table has them.
		{"sysctl", "-q", "-w", "net.ipv4.conf." + uplink + ".rp_filter=2"},
		inRouter("address", "add", routerAddress+"/30", "dev", "up0"),
		inRouter("link", "set", "up0", "up"),
		inRouter("link", "add", "down0", "type", "veth", "peer", "name", "up0", "netns", strconv.Itoa(server)),
		inRouter("address", "add", routerInside+"/30", "dev", "down0"),
		inRouter("link", "set", "down0", "up"),
		inServer("address", "add", serverAddress+"/30", "dev", "up0"),
		inServer("link", "set", "up0", "up"),
		inServer("route", "add", "default", "via", routerInside),
	}
	for _, r := range ranges() {
		all = append(all, inRouter("route", "add", r, "via", serverAddress),
			inServer("route", "add", "local", r, "dev", "lo"))
	}
	return all
}

// inside is ip(8) in the network of a process.
func inside(pid int) func(args ...string) []string {
	return func(args ...string) []string {
		return append([]string{"nsenter", "--net=/proc/" + strconv.Itoa(pid) + "/ns/net", "ip"}, args...)
	}
}

// routes make a table by which the containers' packets go: into the world, and nowhere else, as the last of all routes
// must not carry them out of this machine. No one has a route to networks without a bridge address.
func routes() [][]string {
	all := [][]string{
		{"ip", "route", "add", "unreachable", "default", "table", routingTable},
		{"ip", "route", "add", uplinkNet, "dev", uplink, "table", routingTable},
		{"ip", "route", "add", "unreachable", workerSubnet, "metric", "4000"},
		{"ip", "route", "add", "unreachable", redisSubnet, "metric", "4000"},
	}
	for _, r := range append(ranges(), serverAddress+"/32") {
		all = append(all, []string{"ip", "route", "add", r, "via", routerAddress, "table", routingTable})
	}
	for _, subnet := range withBridge {
		all = append(all, []string{"ip", "route", "add", "throw", subnet, "table", routingTable},
			[]string{"ip", "rule", "add", "from", subnet, "lookup", routingTable, "priority", routingTable})
	}
	return all
}

// withBridge are the networks from which there is a way through this machine.
var withBridge = []string{egressSubnet, prometheusSubnet, placeSubnet}

// end takes all of the world away, whether or not it is there.
func (w *world) end() {
	if w.visitors != nil {
		_ = w.visitors.Close()
		w.visitors = nil
	}
	for _, command := range [][]string{
		{"docker", "rm", "--force", routerName, serverName},
		{"ip", "link", "delete", uplink},
		{"ip", "route", "flush", "table", routingTable},
		{"ip", "route", "delete", "unreachable", workerSubnet, "metric", "4000"},
		{"ip", "route", "delete", "unreachable", redisSubnet, "metric", "4000"},
	} {
		_ = exec.Command(command[0], command[1:]...).Run()
	}
	for _, subnet := range withBridge {
		_ = exec.Command("ip", "rule", "delete", "from", subnet, "priority", routingTable).Run()
	}
	_ = os.RemoveAll(w.dir)
}

func (w *world) printLogs() {
	out, _ := exec.Command("docker", "logs", serverName).CombinedOutput()
	fmt.Fprintf(os.Stderr, "%s:\n%s\n", serverName, tail(out))
}

// makeImage builds the lab's servers and makes an image of them.
func (w *world) makeImage(root string) error {
	program := filepath.Join(w.dir, "internet")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "./deploy/lab/cmd/internet")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return importImage(worldImage, `ENTRYPOINT ["/internet"]`, map[string]string{"/internet": program})
}

// importedLabel is on images that the tests made.
const importedLabel = project + "=imported"

// importImage makes an image of files of this machine, by where they are in the image, and of empty folders that
// anyone may write.
func importImage(name, change string, files map[string]string, folders ...string) error {
	load := exec.Command("docker", "import", "--change", change, "--change", "LABEL "+importedLabel, "-", name)
	into, err := load.StdinPipe()
	if err != nil {
		return err
	}
	if err := load.Start(); err != nil {
		return err
	}
	archive := tar.NewWriter(into)
	for _, folder := range folders {
		if err := archive.WriteHeader(&tar.Header{Name: folder, Typeflag: tar.TypeDir, Mode: 0o777}); err != nil {
			return errors.Join(err, into.Close(), load.Wait())
		}
	}
	for to, from := range files {
		text, err := os.ReadFile(from)
		if err == nil {
			err = archive.WriteHeader(&tar.Header{Name: to, Mode: 0o755, Size: int64(len(text))})
		}
		if err == nil {
			_, err = archive.Write(text)
		}
		if err != nil {
			return errors.Join(err, into.Close(), load.Wait())
		}
	}
	return errors.Join(archive.Close(), into.Close(), load.Wait())
}

// removeImported takes the images away that importImage made, those of a killed run too.
func removeImported() {
	out, _ := output("docker", "images", "--quiet", "--filter", "label="+importedLabel)
	for _, id := range strings.Fields(out) {
		_ = exec.Command("docker", "rmi", "--force", id).Run()
	}
}

// runContainer starts a container and gives its process.
func runContainer(name string, args ...string) (pid int, err error) {
	if _, err := output("docker", append([]string{"run", "--detach", "--name", name}, args...)...); err != nil {
		return 0, err
	}
	return processOf(name)
}

// processOf is the process of a container.
func processOf(container string) (int, error) {
	out, err := output("docker", "inspect", "--format", "{{.State.Pid}}", container)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}

func commands(all [][]string) error {
	for _, command := range all {
		if _, err := output(command[0], command[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// awaitServers waits until the last of the lab's servers has started.
func (w *world) awaitServers() error {
	var err error
	if !waittest.Within(30*time.Second, func() bool {
		var out string
		out, err = output("docker", "logs", serverName)
		return err != nil || strings.Contains(out, "serving")
	}) {
		return errors.New("the lab's servers do not start")
	}
	return err
}

// dialFrom connects from a visitor's address.
func (w *world) dialFrom(ctx context.Context, from netip.Addr, address string) (net.Conn, error) {
	return w.visitors.DialFrom(ctx, dialerFrom(from), "tcp", address)
}
