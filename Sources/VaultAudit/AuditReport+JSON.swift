import SealedPack
public import StrictJSON
import UpdateFramework
import VaultErrors

extension AuditReport {
    /// The whole report as one object.
    public var json: JSONObject {
        [
            "subject": .string(subject),
            "ok": .bool(problemCount == 0),
            "pinned": .bool(isPinned),
            "trust": .string(trust.rawValue),
            "problems": .integer(Int64(problemCount)),
            "verifiedBytes": .integer(Int64(clamping: verifiedBytes)),
            "roles": .array(roles.map { .object($0.json) }),
            "packs": .array(packs.map { .object($0.json) }),
            "findings": .array(findings.map { .object($0.json) }),
        ]
    }
}

extension AuditedRole {
    fileprivate var json: JSONObject {
        [
            "role": .string(role.name),
            "version": .integer(version),
            "expires": .string(expires.description),
            "daysLeft": .integer(daysLeft),
        ]
    }
}

extension AuditedPack {
    fileprivate var json: JSONObject {
        var object: JSONObject = [
            "place": .string(place),
            "ok": .bool(isSound),
            "length": .integer(Int64(clamping: length)),
            "findings": .array(findings.map { .object($0.json) }),
        ]
        object["id"] = id.map { .string($0.description) }
        object["version"] = version.map { .integer(Int64(clamping: $0)) }
        object["pieces"] = pieceCount.map { .integer(Int64($0)) }
        object["verifiedEntries"] = verifiedEntries.map { .integer(Int64($0)) }
        return object
    }
}

extension AuditFinding {
    fileprivate var json: JSONObject {
        var object: JSONObject = [
            "severity": .string(severity.name),
            "place": .string(place),
            "problem": .string(problem),
            "remedy": .string(remedy),
        ]
        if case .error(let category) = severity { object["category"] = .string(category.rawValue) }
        return object
    }
}
