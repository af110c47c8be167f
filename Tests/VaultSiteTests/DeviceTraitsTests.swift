import Testing
import VaultBase
import VaultSite

/// What a device states of itself, as text and in a store.
@Suite struct DeviceTraitsTests {
    @Test func textsAreParsed() throws {
        let traits = try DeviceTraits(parsing: ["scale=2", "language=de-AT,en", "note=a=b"])
        #expect(
            traits["scale"] == ["2"] && traits["language"] == ["de-AT", "en"] && traits["note"] == ["a=b"])
        #expect(traits.description == "language=de-AT,en note=a=b scale=2" && !traits.takesAllVariants)
        let all = try DeviceTraits(parsing: ["all"])
        #expect(all == .allVariants && all.takesAllVariants && all.description == "all")
        #expect(all != DeviceTraits())
    }

    @Test(arguments: [
        (["scale"], "'scale' is not a trait with a value", "NAME=VALUE"),
        (["=2"], "'=2' is not a trait", "'all' for all"), ([""], "'' is not a trait", "NAME=VALUE"),
        (["scale="], "'scale=' is not a trait", "NAME=VALUE"), (["scale=,"], "is not a trait", "NAME=VALUE"),
        (["a=x\u{1}"], "control characters", "1 to 64 bytes"),
        (["a\u{7}=x"], "control characters", "1 to 64 bytes"),
        (["a=\(String(repeating: "x", count: 65))"], "too long", "1 to 64 bytes"),
        (["a=\((0..<33).map { "\($0)" }.joined(separator: ","))"], "too many values", "at most 32 values"),
        (["scale=2", "scale=3"], "the trait 'scale' is stated twice", "state it once"),
        (["all", "scale=2"], "takes all variants", "either 'all' or traits"),
        (["all", "all"], "takes all variants", "either 'all' or traits"),
    ])
    func textsAreRefused(texts: [String], problem: String, remedy: String) {
        let error = #expect(throws: VaultError.self) { try DeviceTraits(parsing: texts) }
        #expect(
            error?.category == .usage && error?.problem.contains(problem) == true,
            "\(String(describing: error))")
        #expect(error?.remedy.contains(remedy) == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        .allVariants, DeviceTraits(), DeviceTraits(["scale": []]),
        DeviceTraits(["scale": ["2"], "a,b=c": ["x,y", "=", "\u{0}\n\u{202E}\"\\", "ü"], "all": ["all"]]),
    ])
    func storedTraitsAreTheSame(traits: DeviceTraits) throws {
        let bytes = traits.json.compact()
        let read = try DeviceTraits(parsing: JSONValue(parsing: bytes.span, place: "test"), place: "test")
        #expect(read == traits)
    }

    @Test(arguments: [
        "1", "null", "[]", #""some""#, #"{"scale": "2"}"#, #"{"scale": [2]}"#, #"{"scale": null}"#,
    ])
    func damagedTraitsAreRefused(text: String) throws {
        let json = try JSONValue(parsing: Array(text.utf8).span, place: "test")
        let error = #expect(throws: VaultError.self) { try DeviceTraits(parsing: json, place: "test") }
        #expect(error?.category == .corrupt)
    }
}
