public import VaultErrors

/// What should be done soon, as a sentence.
public struct Warning: Sendable, ExpressibleByStringInterpolation {
    public let text: String
    /// See ``VaultErrors/VaultError/hint``.
    public let hint: Hint?

    public init(_ text: String, hint: Hint? = nil) {
        self.text = text
        self.hint = hint
    }

    public init(stringLiteral text: String) { self.init(text) }
}
