import SealedPack
public import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// The files of a store, in three areas, each on its own file system if need be.
///
///     ephemeral/  SHA256.part                      downloads under way; may vanish at any time
///                 SHA256.2.part (to 4)             the same, by a process that continued for a stalled one
///                 SHA256.avpack                    a finished one, complete and verified
///                 SHA256.wanted                    locked by an app that needs the download now
///     shared/     @lock @trust/ @state/ @work/     of downloaders: the lock of the area, trusted metadata, records
///                 packs/ID/@SHA256.avpack          whole, verified, still sealed, its manifest beside it
///                 @traffic/DATE                    what was received on a day
///     permanent/  @lock @trust/ @state/ @work/     of apps: the same; they alone decide what is in use
///                 @traffic/DATE                    what was received on a day
///                 @choice                          the channel that is followed, the version of the app, the traits of the device
///                 @names                           the names of packs whose site hides them
///                 @access/                         notes of what requests have in access, locked by their processes
///                 @preservation                    how long packs stay, by tag, where the app changed it
///                 @held/                           notes of packs with a held superseded version
///                 @switch                          while versions become live together: their names
///                 ID/@VERSION-DIGEST/              an opened tree, never changed, its manifest beside it
///                 ID/@VERSION-DIGEST.tail          the pack it was opened from, with holes for its pieces
///                 ID/@VERSION-DIGEST.arriving/     a tree that a download is opened into, locked by its process
///                 ID/@VERSION-DIGEST.avpack        a pack kept sealed, its manifest beside it; a base has none
///                 ID/@VERSION-DIGEST.avpack.places which pieces of it are in bases: sealed versions before it
///                 ID/current                       a relative link to the live one of these
///
/// A pack ID holds no `@`, so names that begin with it can't be those of a pack.
public struct StoreLayout: Sendable, Hashable {
    /// Begins the names of what the store keeps for itself.
    static let reservedPrefix = "@"
    private static let states = "@state"
    private static let packs = "packs"

    public var ephemeral: FilePath
    public var shared: FilePath
    public var permanent: FilePath

    public init(ephemeral: FilePath, shared: FilePath, permanent: FilePath) {
        self.ephemeral = ephemeral
        self.shared = shared
        self.permanent = permanent
    }

    /// The three areas as folders of one.
    public init(root: FilePath) {
        self.init(
            ephemeral: root.appending("ephemeral"), shared: root.appending("shared"),
            permanent: root.appending("permanent"))
    }

    /// The area where a role keeps what it decides.
    func area(of role: StoreRole) -> FilePath {
        switch role {
        case .app: permanent
        case .downloader: shared
        }
    }

    /// The locks that a role takes for a transition, in this order: an app keeps other apps away by a file that no
    /// downloader can replace.
    func locks(of role: StoreRole) -> [FilePath] {
        switch role {
        case .app: [permanent.appending("@lock"), shared.appending("@lock")]
        case .downloader: [shared.appending("@lock")]
        }
    }

    /// The metadata that a role trusts.
    func trust(of role: StoreRole) -> FilePath { area(of: role).appending("@trust") }
    func states(of role: StoreRole) -> FilePath { area(of: role).appending(Self.states) }
    /// Marks of the processes that are changing the store.
    func work(of role: StoreRole) -> FilePath { area(of: role).appending("@work") }
    /// What was received, by day.
    func traffic(of role: StoreRole) -> FilePath { area(of: role).appending("@traffic") }
    var names: FilePath { permanent.appending("@names") }
    var listingChoice: FilePath { permanent.appending("@choice") }
    /// Notes of what requests have in access.
    var access: FilePath { permanent.appending("@access") }
    /// Preservation priorities that the app has set.
    var preservation: FilePath { permanent.appending("@preservation") }
    /// Notes of packs with a held superseded version.
    var held: FilePath { permanent.appending("@held") }
    /// The versions that became live together, until the links to all of them are there.
    var versionSwitch: FilePath { permanent.appending("@switch") }
    /// Packs that wait to be opened.
    var packs: FilePath { shared.appending(Self.packs) }

    func partialDownload(of pack: PackManifest) -> FilePath {
        ephemeral.appending("\(pack.sha256.hex).part")
    }

    /// All files of a partial download, in order: a process that continues for a stalled one uses the next.
    func partialDownloads(of pack: PackManifest) -> [FilePath] {
        Self.partialSuffixes.map { ephemeral.appending(pack.sha256.hex + $0) }
    }

    private static let partialSuffixes = [".part", ".2.part", ".3.part", ".4.part"]

    /// All files of a download.
    func downloads(of pack: PackManifest) -> [FilePath] {
        partialDownloads(of: pack) + [finishedDownload(of: pack)]
    }

    static let markSuffix = ".wanted"

    func finishedDownload(of pack: PackManifest) -> FilePath {
        ephemeral.appending("\(pack.sha256.hex).avpack")
    }

    func foregroundMark(of pack: PackManifest) -> FilePath {
        ephemeral.appending(pack.sha256.hex + Self.markSuffix)
    }

    /// The digest in the name of a download or its mark; nil for any other name.
    static func digest(inDownload name: String) -> String? {
        let stem = name.prefix { $0 != "." }
        guard (partialSuffixes + [".avpack", markSuffix]).contains(String(name.dropFirst(stem.count))) else {
            return nil
        }
        return SHA256Digest(hex: String(stem))?.hex
    }

    func recordFolder(of id: PackID, in role: StoreRole) -> FilePath {
        area(of: role).appending("\(Self.states)/\(id)")
    }

    func recordPath(of id: PackID, in role: StoreRole) -> FilePath {
        recordFolder(of: id, in: role).appending("@record.json")
    }

    /// The folder of a pack's verified files that wait to be opened.
    func waiting(of id: PackID) -> FilePath { shared.appending("\(Self.packs)/\(id)") }

    func waitingPack(_ pack: PackManifest) -> FilePath {
        waiting(of: pack.id).appending(waitingName(of: pack))
    }

    func waitingName(of pack: PackManifest) -> String { "@\(pack.sha256.hex).avpack" }

    func home(of id: PackID) -> FilePath { permanent.appending(id.description) }

    func current(of id: PackID) -> FilePath { home(of: id).appending("current") }

    /// The file of the pack that a tree was opened from, with holes where its pieces were.
    func tailFile(of pack: PackManifest) -> FilePath {
        home(of: pack.id).appending(VersionName(of: pack, as: .opened).tailFile)
    }

    /// The folder that a download of the pack is opened into.
    func arrivingTree(of pack: PackManifest) -> FilePath {
        home(of: pack.id).appending(VersionName(of: pack, as: .opened).arrivingTree)
    }

    func version(_ pack: PackManifest, as form: PackForm) -> FilePath {
        home(of: pack.id).appending(VersionName(of: pack, as: form).text)
    }
}

extension StoreLayout {
    /// Whether a pack is a version in its sealed form. A base, of which only the file stayed, is none.
    func isKeptSealed(_ pack: PackManifest) throws(VaultError) -> Bool {
        let file = version(pack, as: .sealed)
        guard try FileSystem.exists(file) else { return false }
        return try FileSystem.exists(PackManifestFile.path(beside: file))
    }
}

/// The form of a pack in permanent storage.
public enum PackForm: String, Sendable {
    /// As a tree of plain files.
    case opened
    /// As it was downloaded; files are read in place.
    case sealed
}
