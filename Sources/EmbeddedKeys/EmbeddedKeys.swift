import Foundation
import PackagePlugin

/// Builds the keys that a target declares in `EmbeddedKeys.json` into it, masked, as `EmbeddedKeys.NAME`.
@main struct EmbeddedKeys: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let declaration = target.directoryURL.appending(path: "EmbeddedKeys.json")
        let source = context.pluginWorkDirectoryURL.appending(path: "EmbeddedKeys.swift")
        // The tool changes this input itself. So it runs in each build, and sees new values of variables and files.
        let stamp = context.pluginWorkDirectoryURL.appending(path: "EmbeddedKeys.stamp")
        try Data().write(to: stamp)
        let environment = ProcessInfo.processInfo.environment["EMBEDDED_KEYS_ENVIRONMENT"] ?? "development"
        // The tool inherits the variables with keys: as arguments they would be in files of the build.
        return [
            .buildCommand(
                displayName: "Embedding the keys of '\(environment)' into \(target.name)",
                executable: try context.tool(named: "EmbeddedKeysTool").url,
                arguments: [environment]
                    + [declaration, source, stamp].map { $0.path(percentEncoded: false) },
                inputFiles: [declaration, stamp], outputFiles: [source])
        ]
    }
}
