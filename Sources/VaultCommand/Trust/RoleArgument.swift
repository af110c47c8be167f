import ArgumentParser
import UpdateFramework

/// The top-level role that is changed.
struct RoleArgument: ParsableArguments {
    private static let names = TopLevelRole.allCases.map(\.rawValue)

    @Argument(
        help: "root, timestamp, snapshot or targets.", completion: .list(names),
        transform: { text in
            if let role = TopLevelRole(rawValue: text) { return role }
            throw ValidationError(
                "a role is root, timestamp, snapshot or targets"
                    + Suggestion.question(for: text, among: names))
        })
    var role: TopLevelRole
}
