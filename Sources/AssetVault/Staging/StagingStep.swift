import VaultBase
import VaultFileSystem

/// The steps of a pack, each done when it is reached. Tests end the process at each of them; a release build does nothing.
enum StagingStep: String, CaseIterable {
    case downloadRecorded
    case downloadClaimed
    case tailVerified
    /// ``PackAssembly`` reaches it by this raw name.
    case pieceWritten
    /// The same for a piece that another pack had.
    case pieceReused
    case downloadVerified
    case downloadNamed
    case packShared
    case shareRecorded
    /// ``ArrivingTree`` reaches it by this raw name.
    case openingBegan
    /// ``FreeablePack`` reaches it by this raw name.
    case piecesFreed
    case treeWritten
    case manifestSaved
    case tailSaved
    case placesSaved
    case versionRenamed
    case versionActivated
    case activationRecorded
    case readyRecorded
    case switchSaved
    case versionSwitched
    case switchEnded
    case downloadCleared
    case removalRecorded
    case linkRemoved
    case versionsRemoved
    case waitingRemoved
    case scratchRecovered
    case recordRecovered

    func reached() {
        FailPoint.reach(rawValue)
    }
}
