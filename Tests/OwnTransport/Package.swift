// swift-tools-version: 6.2
import PackageDescription

// An app with a transport of its own: the package without its trait HTTP.
let package = Package(
    name: "OwnTransport",
    dependencies: [.package(name: "AssetVault", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "own-transport", dependencies: [.product(name: "AssetVault", package: "AssetVault")],
            path: "Sources", swiftSettings: [.swiftLanguageMode(.v6), .strictMemorySafety()])
    ]
)
