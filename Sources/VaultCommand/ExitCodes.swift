import VaultErrors

extension VaultError.Category {
    /// The exit code of this kind of failure, as in `sysexits.h`.
    var exitCode: Int32 {
        switch self {
        case .usage: 64
        case .corrupt: 65
        case .missing: 66
        case .unavailable: 69
        case .unwritable: 73
        case .io, .diskFull, .limit, .cancelled: 74
        case .busy: 75
        case .untrusted: 76
        case .key: 77
        }
    }
}
