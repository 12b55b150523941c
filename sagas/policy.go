package sagas

// policies are how long and how often each sort of step is tried
// (docs/sagas.md, "Policies").
type policies struct{ capture, refund, local, compare, engine, push, ready, vm, bin, undo, left, welcome, late, due, deliver Policy }

func policiesOf(t Times) policies {
	return policies{
		capture: Policy{
			Timeout: t.PaymentCall, Budget: t.CaptureDeadline, Base: t.PaymentBase, Cap: t.CaptureCap, Quarantine: t.Quarantine, Defer: true,
		},
		refund: Policy{Timeout: t.PaymentCall, Budget: t.RefundBudget, Base: t.PaymentBase, Cap: t.RefundCap, Quarantine: t.Quarantine},
		due:    Policy{Timeout: t.Write, First: t.CertificateLook, Last: t.CertificateLook, Base: t.LocalBase, Cap: t.LocalCap},
		local:  Policy{Timeout: t.Write, Attempts: 10, Base: t.LocalBase, Cap: t.LocalCap},
		engine: Policy{
			Timeout: t.Call, Budget: t.EngineBudget, Base: t.EngineBase, Cap: t.EngineCap, Quarantine: t.Quarantine,
			First: t.Poll, Last: t.ReadyLast,
		},
		push: Policy{
			Timeout: t.Call, Budget: t.EngineBudget, Base: t.EngineBase, Cap: t.EngineCap, Quarantine: t.Quarantine,
			First: t.Poll, Last: t.ReadyLast,
		},
		undo:    Policy{Timeout: t.Call, Budget: t.UndoBudget, Base: t.UndoBase, Cap: t.UndoCap},
		left:    Policy{Timeout: t.Call, Budget: t.UndoBudget, Base: t.UndoBase, Cap: t.UndoCap, First: t.ReadyFirst, Last: t.UndoCap},
		bin:     Policy{Timeout: t.Write},
		ready:   Policy{Timeout: t.Call / 2, Budget: t.ReadyBudget, First: t.ReadyFirst, Last: t.ReadyLast, Base: t.EngineBase, Cap: t.EngineCap},
		compare: Policy{Timeout: t.Call, Budget: t.ReadyBudget, First: t.EngineBase, Last: 5 * t.EngineBase, Base: t.EngineBase, Cap: t.EngineCap},
		vm:      Policy{Timeout: t.Call / 2, Budget: t.VMBudget, First: t.ReadyFirst, Last: t.ReadyLast, Base: t.EngineBase, Cap: t.EngineCap},
		welcome: Policy{Timeout: t.Call, Attempts: 5, Budget: t.MailBudget, Base: t.MailBase, Cap: t.MailCap, Sends: 1, Defer: true},
		deliver: Policy{Timeout: t.Call, Budget: t.WebhookBudget, Base: t.WebhookBase, Cap: t.WebhookCap, Defer: true},
		late: Policy{
			Timeout: t.Call, Budget: t.LateBudget - t.MailBudget, Least: t.LateBase, Base: t.LateBase, Cap: t.LateCap,
			Quarantine: t.MailUnanswered, Sends: 2, Defer: true,
		},
	}
}
