import SealedPack
import StrictJSON
import VaultErrors

extension AppVersionRange {
    /// The member `"apps"`, such as `{"from": "2.0", "before": "3.0"}`; all without it.
    init(parsing json: LocatedJSON?) throws(VaultError) {
        self.init()
        guard let json else { return }
        try json.requireMembers(among: ["from", "before"])
        func bound(_ name: String) throws(VaultError) -> AppVersion? {
            try json[name].map { value throws(VaultError) in
                let text = try value.string()
                return try value.map { () throws(VaultError) in try AppVersion(text) }
            }
        }
        (from, before) = (try bound("from"), try bound("before"))
        if let from, let before, before <= from {
            throw json.error(
                .usage, "no version of an app is from \(from) and before \(before)",
                remedy: "give \"before\" a higher one")
        }
    }
}
