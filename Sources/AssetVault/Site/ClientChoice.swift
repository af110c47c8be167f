import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem
import VaultSite

/// The channel, app version and device by which a client reads a site. Nil keeps the stored value.
struct ClientChoice: Sendable, Equatable {
    var channel: Channel?
    var appVersion: AppVersion?
    /// Chooses among variants.
    var device: DeviceTraits?

    /// The view of a site without any choice.
    static let none = ClientChoice()

    func completed(by other: ClientChoice) -> ClientChoice {
        ClientChoice(
            channel: channel ?? other.channel, appVersion: appVersion ?? other.appVersion,
            device: device ?? other.device)
    }
}

/// The app's choice, kept for work without a site, and for downloaders, which read it and never write it.
struct StoredClientChoice {
    private let path: FilePath
    private let role: StoreRole
    private static let limit = 64 << 10

    init(of store: StoreAccess) { (path, role) = (store.layout.listingChoice, store.role) }

    /// The names of traits that a device states and that it did not state before, as far as the record can be read.
    func newTraits(of device: DeviceTraits) -> [String] {
        let known = (try? recorded())?.device?.names ?? []
        return device.names.filter { !known.contains($0) }
    }

    /// The given choice, completed by the stored one. A damaged file is no error if channel and app version are given: these decide
    /// which packs are listed.
    func completing(_ given: ClientChoice) throws(VaultError) -> ClientChoice {
        do throws(VaultError) { return given.completed(by: try choice()) } catch {
            guard error.category == .corrupt, given.channel != nil, given.appVersion != nil else {
                throw error
            }
            return given
        }
    }

    /// Empty before the first choice, and for a downloader that can't read the app's. Throws `.corrupt` for a damaged file.
    private func choice() throws(VaultError) -> ClientChoice {
        switch role {
        case .app: try recorded()
        case .downloader: (try? recorded()) ?? .none
        }
    }

    private func recorded() throws(VaultError) -> ClientChoice {
        guard let bytes = try optional(DurableFile.read(path, limit: Self.limit), ignoring: .missing) else {
            return .none
        }
        do throws(VaultError) {
            let json = try JSONValue(parsing: bytes.span, place: path.string).asObject(at: path.string)
            return ClientChoice(
                channel: try json.optionalString("channel", at: path.string).map { name throws(VaultError) in
                    try Channel(named: name)
                },
                appVersion: try json.optionalString("appVersion", at: path.string).map {
                    text throws(VaultError) in
                    try AppVersion(text)
                },
                device: try json["device"].map { traits throws(VaultError) in
                    try DeviceTraits(parsing: traits, place: path.string)
                })
        } catch {
            throw VaultError(
                .corrupt, "the choice of a channel, an app version and a device is damaged", at: path.string,
                remedy: "remove it, and name them again")
        }
    }

    /// Throws `.usage` for traits that could not be read again.
    func record(_ choice: ClientChoice) throws(VaultError) {
        guard role == .app, (try? recorded()) != choice else { return }
        var json = JSONObject()
        json["channel"] = choice.channel.map { .string($0.name) }
        json["appVersion"] = choice.appVersion.map { .string($0.description) }
        json["device"] = choice.device?.json
        // Escaped: values of traits may contain any character.
        let bytes = JSONValue.object(json).compact()
        guard bytes.count <= Self.limit else {
            throw VaultError(
                .usage, "the traits of the device have more than \(Self.limit) bytes", at: "device",
                remedy: "state fewer values")
        }
        let permissions = AreaPermissions.permanent
        try FileSystem.createFolders(path.removingLastComponent(), permissions: permissions.folders)
        try DurableFile.write(bytes.span, to: path, permissions: permissions.files, replacing: true)
    }
}
