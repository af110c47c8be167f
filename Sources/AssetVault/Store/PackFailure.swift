import StrictJSON
import VaultErrors

/// Why the last attempt to get a pack failed.
struct PackFailure: Sendable, Equatable {
    let reason: String
    /// Nil for one that this release does not know.
    let category: VaultError.Category?

    /// The failure of one pack: the place of the error is omitted.
    init(_ error: VaultError) {
        reason = error.problem
        category = error.category
    }

    /// An error that kept the pack's state from being read, with its place.
    init(readingState error: VaultError) {
        reason = error.description
        category = error.category
    }

    var json: JSONObject {
        var object: JSONObject = ["reason": .string(reason)]
        object["category"] = category.map { .string($0.rawValue) }
        return object
    }

    init(parsing json: JSONObject, place: String) throws(VaultError) {
        reason = try json.string("reason", at: place)
        category = try json.optionalString("category", at: place).flatMap(VaultError.Category.init)
    }
}
