package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	connections = 50
	warmUp      = time.Second // wrk counts in whole seconds
)

// contest is one load on the gateway and the same on a rival. One answer of the gateway is worth per of the rival's.
type contest struct {
	name, rival string
	ours        load
	theirs      load
	per         float64
	// least is the bound on the ratio of the rates; 0 is none. Where prompt, the gateway's p99 may not be worse either.
	least  float64
	prompt bool
	// most is the bound on the ratio of the processor times, mostRate that on the ratio of the rates; 0 is none.
	most, mostRate float64
}

// outcome is what a contest came to: the medians of all rounds.
type outcome struct {
	contest
	our, their shot
	ratio      float64
}

func (o outcome) holds() bool {
	return o.ratio >= o.least && (o.mostRate == 0 || o.ratio <= o.mostRate) && (!o.prompt || o.our.P99 <= o.their.P99) &&
		(o.most == 0 || o.dearer() <= o.most)
}

// dearer is the ratio of the processor times.
func (o outcome) dearer() float64 { return float64(o.our.CPU) / (float64(o.their.CPU) * o.per) }

// Names of which every request has another; the gateway caches DNS answers for a minute, the exporter queries again.
const (
	name    = `"n" .. n % 1000 .. ".` + loadZone + `"`
	fresh   = `"d" .. n .. "-" .. stamp .. ".` + loadZone + `"`
	address = `"11.94.0." .. (1 + n % 200)`
)

func contests() []contest {
	onGateway := func(slug, input string) load { return load{server: gatewayAddr, lua: posts(slug, input)} }
	onExporter := func(module, target string) load { return load{server: exporterAddr, lua: probes(module, target)} }
	onBare := func(slug, input string) load { return load{server: bareAddr, lua: posts(slug, input)} }
	const http, https, port80 = `"http://" .. `, `"https://" .. `, ` .. ":80"`
	web := func(name, url string, least float64) contest {
		return contest{name: "http-headers, " + name, rival: "http_2xx", per: 1, least: least, prompt: least > 0,
			ours: onGateway("http-headers", url), theirs: onExporter(`"http_2xx"`, url)}
	}
	port := func(name, at string, least float64) contest {
		return contest{name: "port-checker, " + name, rival: "tcp_connect", per: 1, least: least,
			ours: onGateway("port-checker", at), theirs: onExporter(`"tcp_connect"`, at)}
	}
	echo := func(name, slug, input string, least float64) contest {
		return contest{name: name, rival: "bare Echo", per: 1, least: least,
			ours: onGateway(slug, input), theirs: onBare(slug, input)}
	}
	// A plain answer must be no slower than a stream, but for what two runs of the same differ by.
	stream := func(name, slug, input string, most float64) contest {
		return contest{name: name + " as a stream", rival: "the same, plain", per: 1, most: most, mostRate: 1.1,
			ours: load{server: gatewayAddr, lua: streams(slug, input)}, theirs: onGateway(slug, input)}
	}
	return []contest{
		echo("my-ip, just started", "my-ip", `""`, 0.45),
		echo("dns-lookup, from the cache, just started", "dns-lookup", `"`+cachedName+`"`, 0.35),
		web("http, by name", http+name+` .. "/"`, 2),
		web("https, by name", https+name+` .. "/"`, 0),
		web("http, by address", http+address+` .. "/"`, 0),
		port("by name", name+port80, 2),
		port("by address", address+port80, 0),
		{name: "dns-lookup, not in the cache", rival: "seven dns probes", per: 7, least: 2,
			ours: onGateway("dns-lookup", fresh), theirs: onExporter(`"dns" .. n % 7`, `"11.77.53.1"`)},
		stream("my-ip", "my-ip", `""`, 0),
		stream("dns-lookup, from the cache", "dns-lookup", `"`+cachedName+`"`, 0),
		stream("dns-lookup", "dns-lookup", fresh, 1.2),
		echo("my-ip, after all that", "my-ip", `""`, 0),
		echo("dns-lookup, from the cache, after all that", "dns-lookup", `"`+cachedName+`"`, 0),
	}
}

const cachedName = "d0." + loadZone

// rates runs the contests, both sides in turn, and prints a table of them.
func (b *bench) rates(ctx context.Context) error {
	r, err := b.startRivals(ctx)
	defer r.kill()
	if err != nil {
		return err
	}
	t := table{name: "rates", head: []string{"", "rival", "rate", "ratio", "bound", "p99", "rival's p99",
		"processor time each", "rival's"}}
	var errs []error
	for _, c := range contests() {
		if !strings.Contains(c.name, b.options.only) {
			continue
		}
		o, err := b.fight(ctx, r, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		t.add(o.row()...)
		if !o.holds() {
			errs = append(errs, fmt.Errorf("%s: misses its bound", c.name))
		}
	}
	b.tables = append(b.tables, t)
	return errors.Join(errs...)
}

// row is the outcome as a row of the table. What the rival costs is for as much as one answer of ours is worth.
func (o outcome) row() []string {
	bound := "–"
	switch {
	case o.least > 0:
		bound = fmt.Sprintf("%s, at least %.2f", verdict(o.holds()), o.least)
	case o.most > 0:
		bound = fmt.Sprintf("%s, at most %.2f of the processor time and %.2f of the rate", verdict(o.holds()), o.most,
			o.mostRate)
	case o.mostRate > 0:
		bound = fmt.Sprintf("%s, at most %.2f", verdict(o.holds()), o.mostRate)
	}
	return []string{o.name, o.rival, fmt.Sprintf("%.0f/s", o.our.Rate), fmt.Sprintf("%.2f", o.ratio), bound,
		ms(o.our.P99), ms(o.their.P99), micros(o.our.CPU), micros(time.Duration(float64(o.their.CPU) * o.per))}
}

// fight runs both sides in turn, once for nothing.
func (b *bench) fight(ctx context.Context, r rivals, c contest) (outcome, error) {
	opponent := r.exporter
	switch c.theirs.server {
	case bareAddr:
		opponent = r.bare
	case gatewayAddr:
		opponent = r.gateway
	}
	var ours, theirs []shot
	for n := range b.options.rounds + 1 {
		d := b.options.shot
		if n == 0 {
			d = warmUp
		}
		our, err := b.fire(ctx, c.ours.stamped(2*n), r.gateway, connections, d)
		if err != nil {
			return outcome{}, err
		}
		their, err := b.fire(ctx, c.theirs.stamped(2*n+1), opponent, connections, d)
		if err != nil {
			return outcome{}, err
		}
		if n > 0 {
			ours, theirs = append(ours, our), append(theirs, their)
		}
	}
	o := outcome{contest: c, our: middle(ours), their: middle(theirs)}
	o.ratio = o.our.Rate / o.their.Rate * c.per
	fmt.Printf("%-40s %8.0f/s %8.0f/s of %s: %.2f; p99 %v against %v; %v of processor time against %v\n", c.name,
		o.our.Rate, o.their.Rate, c.rival, o.ratio, o.our.P99, o.their.P99, o.our.CPU, o.their.CPU)
	return o, nil
}

// middle is the median of each figure.
func middle(shots []shot) shot {
	return shot{
		Rate: of(shots, func(s shot) float64 { return s.Rate }),
		P50:  of(shots, func(s shot) time.Duration { return s.P50 }),
		P99:  of(shots, func(s shot) time.Duration { return s.P99 }),
		CPU:  of(shots, func(s shot) time.Duration { return s.CPU }),
	}
}

func of[T cmp.Ordered](shots []shot, figure func(shot) T) T {
	var all []T
	for _, s := range shots {
		all = append(all, figure(s))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
