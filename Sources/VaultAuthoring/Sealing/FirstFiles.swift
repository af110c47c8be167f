import SealedPack
import SystemPackage
public import VaultBase
import VaultFileSystem

/// The files of a pack that clients download before the others, by patterns in their order: the member `"first"` in `vault.json`. They
/// are matched with the paths in the pack.
public struct FirstFiles: Sendable {
    private let patterns: [(text: String, pattern: PathPattern)]
    private let index: PathPatternIndex

    public static let none = FirstFiles([])

    private init(_ patterns: [(text: String, pattern: PathPattern)]) {
        self.patterns = patterns
        index = PathPatternIndex(patterns.map(\.pattern))
    }

    public init(patterns: [String]) throws(VaultError) {
        self.init(try patterns.map { text throws(VaultError) in (text, try PathPattern(text)) })
    }

    init(paths: some Sequence<EntryPath>) {
        self.init(paths.map { ($0.string, PathPattern(exactly: $0.utf8Bytes)) })
    }

    /// The files in the first pieces of a pack.
    init(of pack: OpenPack) {
        let stretches = pack.manifest?.first.stretches ?? []
        self.init(paths: stretches.flatMap(pack.catalog.files(inPieces:)))
    }

    /// The positions of the files among the entries of a source, in the order of the patterns, and for one pattern in that of the paths.
    func positions(among entries: SourceFolder.Entries) -> [Int] {
        guard !patterns.isEmpty else { return [] }
        var found: [(pattern: Int, entry: Int)] = []
        for number in entries.indices {
            if let pattern = index.matches(entries[number].path.utf8Bytes).first {
                found.append((pattern, number))
            }
        }
        return found.sorted { $0 < $1 }.map(\.entry)
    }

    /// The patterns that match none of these paths.
    func unused(among paths: some Sequence<EntryPath>) -> [String] {
        guard !patterns.isEmpty else { return [] }
        var unused = Set(patterns.indices)
        for path in paths where !unused.isEmpty { unused.subtract(index.matches(path.utf8Bytes)) }
        return unused.sorted().map { patterns[$0].text }
    }
}

/// The member `"first"` of a pack or a resource tree: a list of patterns, or the name of a file with a list of paths, as
/// `access --record` writes it.
enum DeclaredFirstFiles: Sendable {
    case patterns(FirstFiles)
    case list(FilePath, place: String)

    /// - Parameter json: nil for none.
    init(parsing json: LocatedJSON?) throws(VaultError) {
        guard let json else {
            self = .patterns(.none)
            return
        }
        if case .string(let name) = json.value {
            self = .list(FilePath(name), place: json.place)
            return
        }
        self = .patterns(
            try FirstFiles(
                patterns: json.elements().map { element throws(VaultError) in
                    let pattern = try element.string()
                    _ = try element.map { () throws(VaultError) in try PathPattern(pattern) }
                    return pattern
                }))
    }

    /// - Parameter vault: where a relative path begins.
    func files(in vault: VaultFolder) throws(VaultError) -> FirstFiles {
        switch self {
        case .patterns(let files): return files
        case .list(let name, let place):
            let path = vault.path.pushing(name)
            let bytes: [UInt8]
            do throws(VaultError) { bytes = try DurableFile.read(path, limit: 16 << 20) } catch {
                guard error.category == .missing else { throw error }
                throw VaultError(
                    .missing, "the list of first files does not exist: \(path)", at: place,
                    remedy: "correct \"first\": it is a list of patterns, or the name of a file with paths")
            }
            return FirstFiles(paths: try Self.paths(in: bytes, at: path))
        }
    }

    private static func paths(in bytes: [UInt8], at file: FilePath) throws(VaultError) -> [EntryPath] {
        var paths: [EntryPath] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard !text.isEmpty else { continue }
            do throws(VaultError) { paths.append(try EntryPath(text.span)) } catch {
                throw VaultError(
                    .usage, "it is no path of a file in a pack: \(error.problem)",
                    at: "\(file):\(number + 1)", remedy: "write one path a line, relative to the source")
            }
        }
        return paths
    }

    /// A warning where something matches no file.
    ///
    /// - Parameter paths: of all files of the source, as they are packed.
    func findings(
        of source: PackID, among paths: some Sequence<EntryPath>, in vault: VaultFolder
    ) throws(VaultError) -> [Finding] {
        let unused = try files(in: vault).unused(among: paths)
        guard !unused.isEmpty else { return [] }
        return [
            .warning(
                "unused-first",
                "\"first\" of '\(source)' names what matches no file: \(unused.listed(upTo: 6))",
                at: source.description, remedy: "correct it, or remove it")
        ]
    }
}
