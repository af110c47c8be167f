// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Maze",
    dependencies: [.package(name: "AssetVault", path: "../..")],
    targets: [
        .executableTarget(
            name: "maze", dependencies: [.product(name: "AssetVault", package: "AssetVault")],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .strictMemorySafety(),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ])
    ]
)
