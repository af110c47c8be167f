import AssetVault
import Sampling

/// What one process does in a step, or what happens to it.
enum RequestMove: Sendable {
    /// What happens to a request while it begins.
    enum Twist: Sendable {
        case none, priorities, pause, cancel, end, kill
    }

    /// How much of the disk is to stay free.
    enum Disk: Sendable {
        case plain
        /// More than is free: packs must go.
        case tight
        /// More than there is.
        case full
    }

    case begin(Set<String>, Twist, milliseconds: Int)
    case conditional(Set<String>)
    /// The number of the access among those of the process; also by the end of its object.
    case end(Int, byDropping: Bool)
    /// Begins a request again that has access.
    case beginAgain(Int)
    case purge
    /// Only until a little more is free.
    case purgeSome
    case update(Set<String>)
    case disk(Disk)
    case kill
}

/// What happens to the whole world in a step.
enum WorldMove: Sendable {
    case publish
    case network(RequestWorld.Network)
    /// Nobody has read a pack for that many hours.
    case age(PackID, hours: Int)
}

extension RequestModel {
    /// Chooses what processes do at once, at most one thing each.
    func nextMoves(_ random: inout SeededGenerator) -> [(place: Int, move: RequestMove)] {
        let count = [1, 1, 1, 2, 2, 3].randomElement(using: &random) ?? 1
        let places = disks.indices.shuffled(using: &random).prefix(count)
        return places.map { ($0, nextMove(of: $0, &random)) }
    }

    private func nextMove(of place: Int, _ random: inout SeededGenerator) -> RequestMove {
        let held = accesses.count { $0.place == place }
        if disks[place] != .plain, Int.random(in: 0..<4, using: &random) == 0 { return .disk(.plain) }
        switch Int.random(in: 0..<100, using: &random) {
        case ..<32:
            let twists: [RequestMove.Twist] = [
                .none, .none, .none, .priorities, .pause, .cancel, .end, .kill,
            ]
            return .begin(
                tags(&random), twists.randomElement(using: &random) ?? .none,
                milliseconds: Int.random(in: 0...12, using: &random))
        case ..<46: return .conditional(tags(&random))
        case ..<50 where held > 0: return .beginAgain(Int.random(in: 0..<held, using: &random))
        case ..<74 where held > 0:
            return .end(
                Int.random(in: 0..<held, using: &random), byDropping: Bool.random(using: &random))
        case ..<80: return .purge
        case ..<84: return .purgeSome
        case ..<92: return .update(Bool.random(using: &random) ? tags(&random) : [])
        case ..<96:
            return .disk([.tight, .tight, .full].randomElement(using: &random) ?? .tight)
        default: return .kill
        }
    }

    private func tags(_ random: inout SeededGenerator) -> Set<String> {
        Set(
            (0..<Int.random(in: 1...2, using: &random)).compactMap { _ in
                LevelSite.levels.randomElement(using: &random)
            })
    }

    /// Nil for nothing.
    func nextWorldMove(_ world: RequestWorld, _ random: inout SeededGenerator) -> WorldMove? {
        if !world.network.isSound, Bool.random(using: &random) { return .network(.good) }
        switch Int.random(in: 0..<100, using: &random) {
        case ..<8: return .publish
        case ..<16:
            return .network(RequestWorld.Network.allCases.randomElement(using: &random) ?? .good)
        case ..<24:
            guard let id = live.keys.sorted().randomElement(using: &random) else { return nil }
            return .age(id, hours: Int.random(in: 1...1000, using: &random))
        default: return nil
        }
    }
}
