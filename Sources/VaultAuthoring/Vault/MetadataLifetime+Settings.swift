import StrictJSON
import UpdateFramework
import VaultErrors

extension MetadataLifetime {
    /// Days a role, 1 to 3,650; roles that are absent keep their default.
    init(parsing json: LocatedJSON?) throws(VaultError) {
        self.init()
        guard let json else { return }
        let known = TopLevelRole.allCases.map(\.rawValue)
        for member in try json.members() where !known.contains(member.name) {
            throw member.key.error(
                .usage, "\"expiry\" knows no role \"\(member.name)\"",
                remedy: "use one of \(known.joined(separator: ", "))")
        }
        func days(_ key: String, _ standard: Int) throws(VaultError) -> Int {
            guard let value = try json[key] else { return standard }
            let days = try value.integer()
            guard (1...3650).contains(days) else {
                throw value.error(.usage, "\(days) days are no period for \(key)", remedy: "use 1 to 3650")
            }
            return Int(days)
        }
        root = try days("root", root)
        targets = try days("targets", targets)
        snapshot = try days("snapshot", snapshot)
        timestamp = try days("timestamp", timestamp)
    }
}
