import StrictJSON
import UpdateFramework
import VaultErrors

extension MetadataLifetime {
    /// Days a role, 1 to 3,650; roles that are absent keep their default.
    init(parsing json: JSONObject, place: String) throws(VaultError) {
        self.init()
        let known = TopLevelRole.allCases.map(\.rawValue)
        for key in json.keys where !known.contains(key) {
            throw VaultError(
                .usage, "\"expiry\" knows no role \"\(key)\"", at: place,
                remedy: "use one of \(known.joined(separator: ", "))")
        }
        func days(_ key: String, _ standard: Int) throws(VaultError) -> Int {
            guard let days = try json.optionalInteger(key, at: place) else { return standard }
            guard (1...3650).contains(days) else {
                throw VaultError(
                    .usage, "\(days) days are no period for \(key)", at: place, remedy: "use 1 to 3650")
            }
            return Int(days)
        }
        root = try days("root", root)
        targets = try days("targets", targets)
        snapshot = try days("snapshot", snapshot)
        timestamp = try days("timestamp", timestamp)
    }
}
