public import UpdateFramework
public import VaultBase

/// One of the lists of packs of a site. Every TUF client sees `live`; the other channels are seen by those who ask for
/// them. All channels stand under one snapshot: a host can't hold one back, or mix two states of the site.
public struct Channel: Sendable, Hashable {
    /// What clients see that ask for no channel.
    public static let live = Channel("live", listedBy: OwnRoles.live)

    public let name: String
    /// The role that lists its packs. Of a site without channels the top-level targets may list those of ``live``.
    public let role: MetadataRole
    /// The prefix of the names of its hash bins.
    public let binPrefix: String

    private init(_ name: String, listedBy role: MetadataRole) {
        (self.name, self.role) = (name, role)
        binPrefix = role == OwnRoles.live ? role.name : "\(role.name).bin"
    }

    /// Throws `.usage` for a name that is unsafe in a URL or on a disk.
    public init(named name: String) throws(VaultError) {
        let plain = "abcdefghijklmnopqrstuvwxyz0123456789-_"
        guard name.utf8.allSatisfy(plain.utf8.contains), (1...32).contains(name.utf8.count),
            let role = MetadataRole(delegated: "\(OwnRoles.channelPrefix)\(name)")
        else {
            throw VaultError(
                .usage, "'\(name.excerpt)' can't be a channel's name", at: "channel",
                remedy: "use up to 32 of a-z 0-9 _ -")
        }
        self = name == Self.live.name ? .live : Channel(name, listedBy: role)
    }

    /// Whether it owns a role: its own one, or one of its bins.
    public func owns(_ role: MetadataRole) -> Bool {
        role == self.role || role.name.hasPrefix("\(binPrefix)-")
    }
}

extension Channel: CustomStringConvertible {
    public var description: String { name }
}

extension TrustChain {
    /// The channels of the site: ``Channel/live``, then the others by name.
    public var channels: [Channel] {
        let names = targets.allDelegations.map(\.role.name)
        let others = names.filter { $0.hasPrefix(OwnRoles.channelPrefix) }.sorted()
            .compactMap { try? Channel(named: String($0.dropFirst(OwnRoles.channelPrefix.count))) }
        return [.live] + others
    }

    /// The chain as a client of one channel reads it. Throws `.missing` for a channel that the site does not have.
    public func following(_ channel: Channel) throws(VaultError) -> TrustChain {
        try requireChannel(channel)
        return hidingRoles { OwnRoles.contains($0) && !channel.owns($0) }
    }

    fileprivate func requireChannel(_ channel: Channel) throws(VaultError) {
        let channels = channels
        guard !channels.contains(channel) else { return }
        throw VaultError(
            .missing, "the site has no channel '\(channel)'", at: "channel",
            remedy: "choose among \(channels.map(\.name).joined(separator: ", "))")
    }
}

extension TargetTree {
    /// The site as a client of one channel reads it. Throws `.missing` for a channel that the site does not have.
    public func following(_ channel: Channel) throws(VaultError) -> TargetTree {
        try chain.requireChannel(channel)
        return hidingRoles { OwnRoles.contains($0) && !channel.owns($0) }
    }

    /// Every record that clients of some channel find, one for each version of a pack; each once.
    public var recordsOfAllChannels: [TargetRecord] {
        var known: Set<TargetRecord> = []
        return chain.channels.flatMap { (try? following($0).records) ?? [] }.flatMap(\.eachVersion).filter {
            known.insert($0).inserted
        }
    }
}
