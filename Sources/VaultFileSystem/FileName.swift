internal import SystemPackage
internal import VaultErrors

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
        guard let name = path.lastComponent, name.kind == .regular else {
            throw VaultError(
                .usage, "is not the name of one file or folder", at: path.string,
                remedy: "use a path that ends with the name")
        }
        characters = FilePath(root: nil, CollectionOfOne(name)).characters
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
        let parent = removingLastComponent()
        return parent.isEmpty ? "." : parent
    }

    func appending(characters: [CChar]) -> FilePath {
        guard let component = Component(platformString: characters) else { return self }
        return appending(component)
    }
}
