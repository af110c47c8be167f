import SealedPack
import StrictJSON
public import VaultErrors
public import VaultSite

extension ContentPlan {
    /// What a device states that chooses among no variants, and is probably mistyped.
    public func findings(ofStated device: DeviceTraits) -> [Finding] {
        let known = traitValues
        return device.names.compactMap { name in
            guard known[name] != nil else {
                let remedy = "leave it out, or declare it"
                return .warning(
                    "unknown-trait", "no pack has the trait '\(name.excerpt)', which the device states",
                    at: "device",
                    remedy: Suggestion.nearest(to: name, among: known.keys.sorted()).map {
                        "did you mean '\($0)'? Else \(remedy)"
                    } ?? remedy)
            }
            let needsNumber = packs.contains {
                if case .number? = $0.offer.devices[name] { true } else { false }
            }
            guard needsNumber, !device[name].contains(where: { Int64($0) != nil }) else { return nil }
            return .warning(
                "no-number",
                "the trait '\(name)' is a number, and the device states none: it gets the greatest one",
                at: "device", remedy: "state a number, such as \(name)=2")
        }
    }
}
