import StrictJSON
import VaultBytes
import VaultErrors

extension VaultSettings {
    private static let members = [
        "format", "packs", "resources", "expiry", "teams", "team", "bins", "channels", "audiences", "limits",
        "quietNames", "apps", "pin",
    ]

    /// Members of other programs are ignored, but not one that was probably meant for this one: without `"quietNames"` names
    /// would be public.
    static func requireNoMisspelling(in json: LocatedJSON) throws(VaultError) {
        for member in try json.members() where !members.contains(where: { $0.hasSameBytes(as: member.name) })
        {
            guard Suggestion.nearest(to: member.name, among: members) != nil else { continue }
            throw member.key.error(
                .usage, "the member \"\(member.name.excerpt)\" is unknown", remedy: "give it another name"
            ).suggesting(member.name, among: members)
        }
    }
}
