import FoundationEssentials

/// The working folder, with its web server.
struct WorkFolder {
    let server: WebServer
    let setting: Setting
    private let path: String

    init(_ options: Options) throws {
        path = options.work
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        setting = try Setting(options)
        server = try WebServer(in: path + "/nginx")
    }

    func close() {
        server.close()
        try? FileManager.default.removeItem(atPath: path)
    }
}
