import SealedPack
import Testing
import VaultBase
import VaultTransport

@testable import AssetVault

@Suite struct PlanRefusalTests {
    @Test(
        arguments: [
            (
                .overAllowance(1_500, taken: 600, isEssential: true),
                "levels/one: its 1000 bytes exceed the essential download allowance of 1500, of which metadata and packs "
                    + "before it take 600; raise the allowance, or leave the pack to a later request"
            ),
            (
                .overAllowance(1_500, taken: 600, isEssential: false),
                "levels/one: its 1000 bytes exceed the download allowance of 1500, of which packs before it take 600; "
                    + "raise the allowance, or leave the pack to a later request"
            ),
            (
                .overInstalledSize(2_500, others: 700, isEssential: true),
                "levels/one: opened, it takes 2000 bytes on the disk: with the 700 of other essential packs this "
                    + "exceeds the essential installed size of 2500; raise the limit, or remove packs"
            ),
            (
                .overInstalledSize(2_500, others: 700, isEssential: false),
                "levels/one: opened, it takes 2000 bytes on the disk: with the 700 of other non-essential packs this "
                    + "exceeds the installed size of 2500; raise the limit, or remove packs"
            ),
            (.noAllowedSource([]), "levels/one: there is no source to download it from; name a source"),
        ] as [(PlanRefusal.Reason, String)])
    func sentence(_ reason: PlanRefusal.Reason, _ text: String) throws {
        #expect(PlanRefusal(pack: try pack("levels/one"), reason: reason).error.description == text)
    }

    @Test func sources() throws {
        let sources = try ["a", "b", "c", "d", "e"].map { try site("\($0).example") }
        let one = PlanRefusal(pack: try pack("one"), reason: .noAllowedSource([sources[0]]))
        #expect(
            one.error.description
                == "one: packs may not come from https://a.example/game; allow one of these hosts, or give a source on "
                + "an allowed one")
        let five = PlanRefusal(pack: try pack("one"), reason: .noAllowedSource(sources))
        #expect(five.error.description.contains("https://c.example/game and 2 more;"))
        let folder = PlanRefusal(
            pack: try pack("one"), reason: .noAllowedSource([SiteLocation(path: "/a\nb")]))
        #expect(!folder.error.description.contains("\n"))
    }

    @Test(arguments: PlanScopeTests.triggers + [.app(.only([try PackID("new"), try PackID("here")]))])
    func noSource(_ trigger: PlanTrigger) throws {
        let new = try pack("new")
        let here = try pack("here")
        let stored = [StoredPack(id: here.id, waiting: here)]
        let other = try site("other.example")
        let cdn = try site()
        var policy = PlanningPolicy(downloadAllowance: 0, installedSize: 0)
        policy.allowedHosts = try AllowedHosts(["cdn.example.com"])
        for sources in [[], [other], [other, other]] {
            let plan = Plan(
                PlanInput(
                    stored: stored, offered: [new, here], trigger: trigger, policy: policy, sources: sources
                ))
            #expect(plan.downloads.isEmpty)
            #expect(plan.refusals == [PlanRefusal(pack: new, reason: .noAllowedSource(sources))])
            #expect(plan.transferred == ["here"])
        }
        policy.downloadAllowance = nil
        policy.installedSize = nil
        let plan = Plan(
            PlanInput(
                stored: stored, offered: [new, here], trigger: trigger, policy: policy,
                sources: [other, cdn]))
        #expect(plan.downloaded == ["new"])
        #expect(plan.refusals.isEmpty)
    }

    /// A refusal keeps the loaded version and the partial download of the new one.
    @Test func aRefusalKeepsTheStoredState() throws {
        let new = try pack("a")
        let stored = StoredPack(id: new.id, loaded: try pack("a", version: 1), partial: new)
        let plan = Plan(
            PlanInput(stored: [stored], offered: [new], trigger: .app(.automatic), sources: []))
        #expect(plan.refused == ["a"])
        #expect(plan.removals.isEmpty)
    }
}
