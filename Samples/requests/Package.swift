// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Requests",
    dependencies: [.package(name: "AssetVault", path: "../..")],
    targets: [
        .executableTarget(
            name: "requests", dependencies: [.product(name: "AssetVault", package: "AssetVault")],
            swiftSettings: [.swiftLanguageMode(.v6), .strictMemorySafety()])
    ]
)
