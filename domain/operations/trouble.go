package operations

import (
	"slices"
	"strconv"
	"strings"
)

// The troubles that are reported as incidents, each with its subject and what it
// concerns.

// WebhookTrouble is a webhook that could not be handled: [WebhookUnmatched] or
// [WebhookParked].
func WebhookTrouble(kind string, id int64, provider string) Trouble {
	webhook := strconv.FormatInt(id, 10)
	return Trouble{Kind: kind, Subject: webhook, About: map[string]string{"webhook": webhook, "provider": provider}}
}

// TaskTrouble is a task that failed too often.
func TaskTrouble(queue, key string) Trouble {
	return Trouble{Kind: TaskParked, Subject: queue + "/" + key, About: map[string]string{"queue": queue, "key": key}}
}

// ProviderTrouble is a payment provider that does not answer.
func ProviderTrouble(name string) Trouble {
	return Trouble{Kind: ProviderDown, Subject: name, About: map[string]string{"provider": name}}
}

// AccessTrouble is a server that does not grant us what it lacks: the login, or a
// function. The queue is that of the work which waits for it.
func AccessTrouble(queue, code, lacks string) Trouble {
	return Trouble{
		Kind: AccessRefused, Subject: queue + "/" + lacks,
		About: map[string]string{"queue": queue, "code": code, "lacks": lacks},
	}
}

// ReaderTrouble is a reader of the log that does not move from a position.
func ReaderTrouble(name string, position int64) Trouble {
	at := strconv.FormatInt(position, 10)
	return Trouble{Kind: ReaderStuck, Subject: name, About: map[string]string{"reader": name, "position": at}}
}

// TableTrouble is a read table that could not be built.
func TableTrouble(name string) Trouble {
	return Trouble{Kind: ProjectionFailed, Subject: name, About: map[string]string{"projection": name}}
}

// RecoveryTrouble is a panel that was restored. Who settles it lets the panel reach
// outside again.
func RecoveryTrouble(number int) Trouble {
	n := strconv.Itoa(number)
	return Trouble{Kind: RecoveryMode, Subject: n, About: map[string]string{"recovery": n}}
}

// ErasuresTrouble is a file of a machine that lacks the list of erasures.
func ErasuresTrouble(host, file string) Trouble {
	return Trouble{Kind: ErasuresNotKept, Subject: host + ":" + file, About: map[string]string{"host": host, "file": file}}
}

// WitnessTrouble is a witness of the log that does not answer.
func WitnessTrouble(name string) Trouble {
	return Trouble{Kind: WitnessDown, Subject: name, About: map[string]string{"witness": name}}
}

// LogTrouble is an event that is not as it was written. The stream is empty if
// it is not known.
func LogTrouble(position int64, stream, reason string) Trouble {
	at := strconv.FormatInt(position, 10)
	about := map[string]string{"position": at, "reason": reason}
	if stream != "" {
		about["stream"] = stream
	}
	return Trouble{Kind: LogBroken, Subject: at, About: about}
}

// OrphanTrouble is an object at the engine that belongs to a tenant and that no
// record is about.
func OrphanTrouble(tenant int64, kind string, engineID int64) Trouble {
	number := strconv.FormatInt(engineID, 10)
	return Trouble{
		Kind: EngineOrphan, Subject: kind + "/" + number,
		About: map[string]string{"tenant": strconv.FormatInt(tenant, 10), "kind": kind, "engine_id": number},
	}
}

// MissingTrouble is an object that the engine had and has no longer.
func MissingTrouble(tenant int64, kind string, id int64) Trouble {
	return Trouble{Kind: EngineMissing, Subject: kind + "-" + strconv.FormatInt(id, 10), About: aboutRecord(tenant, kind, id)}
}

// ChangedTrouble is an object at the engine that differs from its record in some
// fields. Other fields are another trouble.
func ChangedTrouble(tenant int64, kind string, id int64, fields []string) Trouble {
	t := Trouble{Kind: EngineChanged, About: aboutRecord(tenant, kind, id)}
	t.About["fields"] = strings.Join(slices.Compact(slices.Sorted(slices.Values(fields))), " ")
	t.Subject = kind + "-" + t.About["id"] + " " + t.About["fields"]
	return t
}

// OrphanedMachine is a machine with the mark of this panel that no record is about.
func OrphanedMachine(server, name, external, service string) Trouble {
	return machineTrouble(MachineOrphan, server, name, external, service)
}

// StrangerTrouble is a machine of others with the name of one of ours.
func StrangerTrouble(server, name, external, service string) Trouble {
	return machineTrouble(MachineStranger, server, name, external, service)
}

func machineTrouble(kind, server, name, external, service string) Trouble {
	return Trouble{
		Kind: kind, Subject: server + "/" + external,
		About: map[string]string{"server": server, "name": name, "external": external, "service": service},
	}
}

// StuckTrouble is a record that the engine refuses to remove, or to make for an order
// that is paid.
func StuckTrouble(tenant int64, kind string, id int64, code string) Trouble {
	t := Trouble{Kind: EngineStuck, Subject: kind + "-" + strconv.FormatInt(id, 10), About: aboutRecord(tenant, kind, id)}
	t.About["code"] = code
	return t
}

func aboutRecord(tenant int64, kind string, id int64) map[string]string {
	return map[string]string{"tenant": strconv.FormatInt(tenant, 10), "kind": kind, "id": strconv.FormatInt(id, 10)}
}
