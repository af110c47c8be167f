extension String {
    /// The beginning of an attacker's text, for an error message.
    var excerpt: String {
        let shown = String(unicodeScalars.prefix(80))
        return shown.utf8.count == utf8.count ? self : shown + "…"
    }
}
