// Package tool defines what a diagnostic tool is: types only, no I/O. A tool is a value made from a Spec; the edge
// (httpapi) sees every tool through the erased Tool, whether it dials or calls the worker.
package tool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"reflect"

	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool/finding"
)

// Target is what a parsed input aims at.
type Target interface {
	// LimitKey is the canonical name of the target, such as "example.com", "2001:db8::1" or "AS15169"; the same for
	// every spelling of one target. Empty means that the tool has no target (my-ip) and charges the client alone.
	LimitKey() string
}

// Visitor is the client of a request. Headers are read once, at the edge.
type Visitor struct {
	// HeadersTrusted reports whether proxy headers are trusted for this request.
	HeadersTrusted bool
	// Addr is the address that a trusted header gave; the zero Addr where headers are not trusted or hold none.
	Addr netip.Addr
	// OwnMachine reports whether the client opened the service on the machine that it runs on, without a proxy.
	OwnMachine bool
}

// Input is a request's body after the checks that all tools share: no control characters, at most 2,048 characters,
// surrounding spaces trimmed.
type Input struct {
	Text    string
	Options Options
	Visitor Visitor
}

// Spec describes one tool. R is its result, which is marshalled as the envelope's data; its tags say how much of it
// foreign text may fill (package bound).
type Spec[T Target, R any] struct {
	// Slug is the tool's name in the path, in kebab-case.
	Slug string
	// Worker marks a tool that runs only where the worker is enabled (501 otherwise).
	Worker bool
	// OnlyHere marks a tool whose answer is about the request itself, so that no other place can give it.
	OnlyHere bool
	// Options are the members of the options object that the tool reads.
	Options []Option
	// Findings is the table of all that the tool can conclude and report; R embeds a finding.Report made from it.
	Findings finding.Rows
	// OpenAPI describes the tool to the outside, as YAML: its operation and its schemas. It is the openapi.yaml beside the
	// tool's code; package openapi defines its parts.
	OpenAPI string
	// Parse turns the input into a canonical target. It is pure: no I/O. Errors are *fault.Error of kind Invalid or
	// Refused.
	Parse func(Input) (T, error)
	// Run does the work. It honours ctx, and its errors are *fault.Error, ctx.Err() or unforeseen.
	Run func(context.Context, T) (R, error)
	// Steps are the types of the steps that the tool reports, by kind, without stages and conclusions.
	Steps map[string]reflect.Type
	// About reports whether a result of another place is about the target. It is nil with OnlyHere.
	About func(T, R) bool
	// Adopt replaces parts of a result of another place that are this instance's own, such as links. Its error refuses
	// the result; nil changes nothing.
	Adopt func(*R) error
}

// Tool is a Spec with its types erased.
type Tool struct {
	slug     string
	worker   bool
	onlyHere bool
	options  []Option
	findings finding.Rows
	openAPI  string
	parse    func(Input) (Job, error)
	result   reflect.Type
	steps    map[string]reflect.Type
}

// New erases the types of a Spec. It panics if a tag of the result that declares a bound is wrong.
func New[T Target, R any](spec Spec[T, R]) Tool {
	limits := bound.LimitsOf[R]()
	parse := func(in Input) (Job, error) {
		target, err := spec.Parse(in)
		if err != nil {
			return Job{}, err
		}
		job := Job{target: target.LimitKey(), limitKey: target.LimitKey(), denyKey: target.LimitKey()}
		if s, ok := any(target).(fmt.Stringer); ok {
			job.target = s.String()
		}
		if d, ok := any(target).(interface{ DenyKey() string }); ok {
			job.denyKey = d.DenyKey()
		}
		if p, ok := any(target).(interface{ TargetPort() uint16 }); ok {
			job.port = p.TargetPort()
		}
		job.run = func(ctx context.Context) (any, error) {
			result, err := spec.Run(ctx, target)
			if err == nil {
				limits.Enforce(&result)
			}
			return result, err
		}
		job.adopt = func(result any) error {
			return spec.adopt(target, result)
		}
		return job, nil
	}
	steps := map[string]reflect.Type{KindConclusion: reflect.TypeFor[finding.Conclusion]()}
	maps.Copy(steps, spec.Steps)
	return Tool{
		slug: spec.Slug, worker: spec.Worker, onlyHere: spec.OnlyHere, options: spec.Options,
		findings: spec.Findings, openAPI: spec.OpenAPI, parse: parse, result: reflect.TypeFor[R](), steps: steps,
	}
}

// KindConclusion is the kind of the step that every tool may send.
const KindConclusion = "conclusion"

var (
	errResult = errors.New("not a result of the tool")
	errTarget = errors.New("a result for another target")
)

func (s Spec[T, R]) adopt(target T, result any) error {
	r, is := result.(*R)
	if !is {
		return errResult
	}
	if s.About != nil && !s.About(target, *r) {
		return errTarget
	}
	reported, is := result.(finding.Adopter)
	if !is {
		reported, is = any(*r).(finding.Adopter) // R is a pointer
	}
	if is {
		if err := reported.Adopt(s.Findings); err != nil {
			return err
		}
	}
	if s.Adopt == nil {
		return nil
	}
	return s.Adopt(r)
}

// Slug is the tool's name in the path.
func (t Tool) Slug() string { return t.slug }

// NeedsWorker reports whether the tool runs only where the worker is enabled.
func (t Tool) NeedsWorker() bool { return t.worker }

// OnlyHere reports whether the tool's answer is about the request itself, so that no other place can give it.
func (t Tool) OnlyHere() bool { return t.onlyHere }

// Options are the members of the options object that the tool reads.
func (t Tool) Options() []Option { return t.options }

// Findings is the table of all that the tool can conclude and report.
func (t Tool) Findings() finding.Rows { return t.findings }

// OpenAPI is the tool's own part of the API's description.
func (t Tool) OpenAPI() string { return t.openAPI }

// Result is the type of the tool's results.
func (t Tool) Result() reflect.Type { return t.result }

// Steps are the types of the steps that the tool reports, by kind. Stages are not among them.
func (t Tool) Steps() map[string]reflect.Type { return t.steps }

// Parse validates the input and returns the job to run. Its errors are those of Spec.Parse.
func (t Tool) Parse(in Input) (Job, error) { return t.parse(in) }

// Job is a validated input, ready to run.
type Job struct {
	target   string
	limitKey string
	denyKey  string
	port     uint16
	run      func(context.Context) (any, error)
	adopt    func(any) error
}

// Target is the canonical target, whole: a URL with its path, or a host with its port. It is empty where there is none.
func (j Job) Target() string { return j.target }

// LimitKey is the canonical target that rate limits count, empty where there is none.
func (j Job) LimitKey() string { return j.limitKey }

// DenyKey is the host that DENY_TARGETS judges: the LimitKey, unless the target has a DenyKey method of its own (a
// registration query is limited by its registrable name but denied by the name that was typed).
func (j Job) DenyKey() string { return j.denyKey }

// Port is the TCP port that the target names, 0 where it names none.
func (j Job) Port() uint16 { return j.port }

// Elsewhere returns the job with another way to do the work: at another place.
func (j Job) Elsewhere(run func(context.Context) (any, error)) Job {
	j.run = run
	return j
}

// Adopt takes a pointer to a result of another place, of the type Tool.Result. It replaces what is this instance's own
// and fails for a result that is not about the target of the job, or whose conclusion is not known here.
func (j Job) Adopt(result any) error { return j.adopt(result) }

// Run does the work.
func (j Job) Run(ctx context.Context) (any, error) { return j.run(ctx) }
