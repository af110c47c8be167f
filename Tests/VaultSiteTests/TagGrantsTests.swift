import Testing
import UpdateFramework
import VaultBase
import VaultSite

/// Whose packs may have which tags, and in which order they come.
@Suite struct TagGrantsTests {
    private func team(_ name: String, granting tags: JSONValue? = nil) throws -> Delegation {
        var members = JSONObject()
        members[TagGrants.member] = tags
        return Delegation(
            to: try #require(MetadataRole(delegated: name)), of: .paths(["packs/\(name)/*"]),
            trust: RoleTrust([MetadataKey]()), members: members)
    }

    private func role(_ name: String) throws -> MetadataRole { try #require(MetadataRole(delegated: name)) }

    @Test func ranks() throws {
        let grants = TagGrants(to: [try team("zeta"), try team("packs"), try team("alpha")])
        #expect(grants.rank(of: .targets) == 0)
        for own in ["packs", "packs-0f", "channel.beta", "channel.beta.bin-3"] {
            #expect(try grants.rank(of: role(own)) == 0)
        }
        #expect(try grants.rank(of: role("zeta")) == 1)
        #expect(try grants.rank(of: role("alpha")) == 2)
        #expect(try grants.rank(of: role("unknown")) == .max)
        #expect(grants.rank(of: nil) == .max)
    }

    @Test func patterns() throws {
        let grants = TagGrants(to: [
            try team("one", granting: ["dlc-*", "level?", "plain"]), try team("two"),
        ])
        let one = try role("one")
        for tag in ["dlc-", "dlc-island", "level1", "plain"] { #expect(grants.allow(tag, to: one)) }
        for tag in ["dlc", "a dlc-", "level", "level12", "plain ", "Plain", ""] {
            #expect(!grants.allow(tag, to: one))
        }
        for role in [try role("two"), try role("three"), nil] { #expect(!grants.allow("plain", to: role)) }
        #expect(grants.allow("anything", to: .targets))
    }

    /// What is not a list of texts grants nothing.
    @Test(arguments: [.null, "*", ["*", 1], ["*": true], true] as [JSONValue])
    func anotherValue(_ value: JSONValue) throws {
        #expect(try !TagGrants(to: [team("one", granting: value)]).allow("a", to: role("one")))
    }
}
