import SealedPack
import Testing

@testable import AssetVault

/// What is planned for one pack, by what is stored of it, its policy and the trigger.
///
/// A cell is a download (its class: `E`ssential, `L`ate essential, `P`refetch, on `D`emand, `F`oreground; and its
/// reason), `open`, `keep`, `refresh`, or `-` for nothing.
enum PlanTable {
    static let essential = """
        stored              removed    install  update   periodic automatic all     only
        absent              -          E/new    E/new    L/new    L/new    L/new    F/new
        partial-same        -          E/adopt  E/adopt  L/adopt  L/adopt  L/adopt  F/adopt
        partial-other       partial    E/newer  E/newer  L/newer  L/newer  L/newer  F/newer
        downloaded-same     -          open     open     open     open     open     open
        downloaded-other    downloaded E/newer  E/newer  L/newer  L/newer  L/newer  F/newer
        waiting-same        -          open     open     open     open     open     open
        waiting-older       waiting    E/newer  E/newer  L/newer  L/newer  L/newer  F/newer
        loaded-same         -          keep     keep     keep     keep     keep     keep
        loaded-older        -          E/newer  E/newer  L/newer  L/newer  L/newer  F/newer
        loaded-newer        -          E/newer  E/newer  L/newer  L/newer  L/newer  F/newer
        loaded-retagged     -          refresh  refresh  refresh  refresh  refresh  refresh
        failed              -          L/new    L/new    L/new    L/new    L/new    F/new
        failed-partial-same -          L/adopt  L/adopt  L/adopt  L/adopt  L/adopt  F/adopt
        failed-waiting-same -          open     open     open     open     open     open
        failed-loaded-older -          L/newer  L/newer  L/newer  L/newer  L/newer  F/newer
        failed-loaded-same  -          refresh  refresh  refresh  refresh  refresh  refresh
        being-removed       all        E/new    E/new    L/new    L/new    L/new    F/new
        loaded-and-others   three      refresh  refresh  refresh  refresh  refresh  refresh
        waiting-twice       two        open     open     open     open     open     open
        ready-same          -          open     open     open     open     open     open
        ready-older         ready      E/newer  E/newer  L/newer  L/newer  L/newer  F/newer
        resumed-update      waiting    E/adopt  E/adopt  L/adopt  L/adopt  L/adopt  F/adopt
        """

    /// As of an essential one, in another class.
    static let prefetch = essential.replacing("E/", with: "P/").replacing("L/", with: "P/")

    /// The same, but one of which nothing is there comes only for those who want all, or it.
    static let onDemand = essential.replacing("E/", with: "D/").replacing("L/", with: "D/").replacing(
        "D/new    D/new    D/new    D/new    D/new", with: "-        -        -        -        D/new")

    struct Case: Sendable, CustomTestStringConvertible {
        let policy: PackPolicy
        let stored: String
        let removed: String
        let trigger: String
        let expected: String

        var testDescription: String { "\(policy), \(stored), \(trigger)" }
    }

    static let cases: [Case] =
        cases(of: .essential, essential) + cases(of: .prefetch, prefetch) + cases(of: .onDemand, onDemand)

    private static func cases(of policy: PackPolicy, _ table: String) -> [Case] {
        let rows = table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        return rows.dropFirst().flatMap { row in
            zip(rows[0], row).dropFirst(2).map { trigger, expected in
                Case(
                    policy: policy, stored: row[0], removed: row[1], trigger: trigger, expected: expected)
            }
        }
    }
}
