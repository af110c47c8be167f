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
        resumed-update      waiting    E/adopt  E/adopt  L/adopt  L/adopt  L/adopt  F/adopt
        """

    static let prefetch = """
        stored              removed    install  update   periodic automatic all     only
        absent              -          P/new    P/new    P/new    P/new    P/new    F/new
        partial-same        -          P/adopt  P/adopt  P/adopt  P/adopt  P/adopt  F/adopt
        partial-other       partial    P/newer  P/newer  P/newer  P/newer  P/newer  F/newer
        downloaded-same     -          open     open     open     open     open     open
        downloaded-other    downloaded P/newer  P/newer  P/newer  P/newer  P/newer  F/newer
        waiting-same        -          open     open     open     open     open     open
        waiting-older       waiting    P/newer  P/newer  P/newer  P/newer  P/newer  F/newer
        loaded-same         -          keep     keep     keep     keep     keep     keep
        loaded-older        -          P/newer  P/newer  P/newer  P/newer  P/newer  F/newer
        loaded-newer        -          P/newer  P/newer  P/newer  P/newer  P/newer  F/newer
        loaded-retagged     -          refresh  refresh  refresh  refresh  refresh  refresh
        failed              -          P/new    P/new    P/new    P/new    P/new    F/new
        failed-partial-same -          P/adopt  P/adopt  P/adopt  P/adopt  P/adopt  F/adopt
        failed-waiting-same -          open     open     open     open     open     open
        failed-loaded-older -          P/newer  P/newer  P/newer  P/newer  P/newer  F/newer
        failed-loaded-same  -          refresh  refresh  refresh  refresh  refresh  refresh
        being-removed       all        P/new    P/new    P/new    P/new    P/new    F/new
        loaded-and-others   three      refresh  refresh  refresh  refresh  refresh  refresh
        waiting-twice       two        open     open     open     open     open     open
        resumed-update      waiting    P/adopt  P/adopt  P/adopt  P/adopt  P/adopt  F/adopt
        """

    static let onDemand = """
        stored              removed    install  update   periodic automatic all     only
        absent              -          -        -        -        -        D/new    F/new
        partial-same        -          D/adopt  D/adopt  D/adopt  D/adopt  D/adopt  F/adopt
        partial-other       partial    D/newer  D/newer  D/newer  D/newer  D/newer  F/newer
        downloaded-same     -          open     open     open     open     open     open
        downloaded-other    downloaded D/newer  D/newer  D/newer  D/newer  D/newer  F/newer
        waiting-same        -          open     open     open     open     open     open
        waiting-older       waiting    D/newer  D/newer  D/newer  D/newer  D/newer  F/newer
        loaded-same         -          keep     keep     keep     keep     keep     keep
        loaded-older        -          D/newer  D/newer  D/newer  D/newer  D/newer  F/newer
        loaded-newer        -          D/newer  D/newer  D/newer  D/newer  D/newer  F/newer
        loaded-retagged     -          refresh  refresh  refresh  refresh  refresh  refresh
        failed              -          -        -        -        -        D/new    F/new
        failed-partial-same -          D/adopt  D/adopt  D/adopt  D/adopt  D/adopt  F/adopt
        failed-waiting-same -          open     open     open     open     open     open
        failed-loaded-older -          D/newer  D/newer  D/newer  D/newer  D/newer  F/newer
        failed-loaded-same  -          refresh  refresh  refresh  refresh  refresh  refresh
        being-removed       all        -        -        -        -        D/new    F/new
        loaded-and-others   three      refresh  refresh  refresh  refresh  refresh  refresh
        waiting-twice       two        open     open     open     open     open     open
        resumed-update      waiting    D/adopt  D/adopt  D/adopt  D/adopt  D/adopt  F/adopt
        """

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
