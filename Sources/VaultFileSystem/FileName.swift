internal import SystemPackage
internal import VaultErrors

/// A name inside one folder: a `String`, or the raw bytes that `Folder.names()` gives.
///
/// Every method that takes one refuses (`.usage`) what is not exactly one component: empty, `.`, `..`,
/// longer than 255 bytes, or with a slash or NUL.
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

/// A checked name, NUL-terminated for the system.
struct CheckedName {
    let characters: [CChar]

    init(_ name: some FileName, in folder: FilePath) throws(VaultError) {
        let bytes = name.fileNameBytes
        let dot = UInt8(ascii: ".")
        guard !bytes.isEmpty, bytes.count <= 255, bytes != [dot], bytes != [dot, dot],
            !bytes.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
        else {
            throw VaultError(
                .usage, "\"\(String(decoding: bytes, as: UTF8.self))\" is not the name of one file",
                at: folder.string,
                remedy: "use a name of 1 to 255 bytes without \"/\", other than \".\" and \"..\"")
        }
        var characters: [CChar] = []
        characters.reserveCapacity(bytes.count + 1)
        for byte in bytes { characters.append(CChar(bitPattern: byte)) }
        characters.append(0)
        self.characters = characters
    }

    /// The path of this name inside `folder`, for messages and for calls that take paths.
    func path(in folder: FilePath) -> FilePath {
        guard let component = FilePath.Component(platformString: characters) else { return folder }
        return folder.appending(component)
    }
}
