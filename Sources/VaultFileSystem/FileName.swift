internal import SystemPackage
internal import VaultBase

/// A name in a folder: a `String`, or the raw bytes that ``Folder/names()`` returns.
///
/// Methods refuse (`.usage`) what is not exactly one path component: empty, `.`, `..`, longer than 255 bytes, or with a
/// slash or NUL.
public protocol FileName {
    var fileNameBytes: [UInt8] { get }
}

extension String: FileName {
    public var fileNameBytes: [UInt8] { Array(utf8) }
}

extension Substring: FileName {
    public var fileNameBytes: [UInt8] { Array(utf8) }
}

extension [UInt8]: FileName {
    public var fileNameBytes: [UInt8] { self }
}

/// A validated name, NUL-terminated for system calls.
struct CheckedName {
    let characters: [CChar]

    init(_ name: some FileName, in folder: borrowing Folder) throws(VaultError) {
        let bytes = name.fileNameBytes
        let dot = UInt8(ascii: ".")
        guard !bytes.isEmpty, bytes.count <= 255, bytes != [dot], bytes != [dot, dot],
            !bytes.contains(0), !bytes.contains(UInt8(ascii: "/"))
        else {
            throw VaultError(
                .usage, "\"\(String(decoding: bytes, as: UTF8.self))\" is not the name of one file",
                at: folder.path.string,
                remedy: "use a name of 1 to 255 bytes without \"/\", other than \".\" and \"..\"")
        }
        characters = bytes.map(CChar.init(bitPattern:)) + [0]
    }

    /// The last component of a path.
    init(endOf path: FilePath) throws(VaultError) {
        let name = path.divided.name
        let dot = CChar(bitPattern: UInt8(ascii: "."))
        guard !name.isEmpty, name != [dot], name != [dot, dot] else {
            throw VaultError(
                .usage, "is not the name of one file or folder", at: path.string,
                remedy: "use a path that ends with the name")
        }
        characters = name + [0]
    }

    /// The path of this name inside `folder`.
    func path(in folder: FilePath) -> FilePath {
        folder.appending(characters: characters)
    }
}

extension FilePath {
    /// NUL-terminated, for system calls.
    var characters: [CChar] {
        unsafe withPlatformString { unsafe Array(UnsafeBufferPointer(start: $0, count: length + 1)) }
    }

    /// The folder of this path: "." for a relative path of one component.
    var parent: FilePath {
        let folder = divided.folder
        return folder.isEmpty ? "." : FilePath(platformString: folder + [0])
    }

    func appending(characters name: [CChar]) -> FilePath {
        isEmpty
            ? FilePath(platformString: name)
            : FilePath(platformString: characters.dropLast() + [Self.slash] + name)
    }

    private static var slash: CChar { CChar(bitPattern: UInt8(ascii: "/")) }

    /// The last component and what is before it. `DIR/` is divided as `DIR`.
    fileprivate var divided: (folder: [CChar], name: [CChar]) {
        var path = characters.dropLast()
        if path.count > 1, path.last == Self.slash { path.removeLast() }
        let slash = path.lastIndex(of: Self.slash)
        let name = path[(slash.map { $0 + 1 } ?? 0)...]
        // The slash of a root stays.
        let folder = slash.map { path[..<max($0, 1)] } ?? []
        return (Array(folder), Array(name))
    }
}
