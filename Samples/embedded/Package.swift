// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Embedded",
    dependencies: [.package(name: "AssetVault", path: "../..")],
    targets: [
        .executableTarget(
            name: "embedded", dependencies: [.product(name: "AssetVault", package: "AssetVault")],
            swiftSettings: [.swiftLanguageMode(.v6), .strictMemorySafety()],
            plugins: [.plugin(name: "EmbeddedKeys", package: "AssetVault")])
    ]
)
