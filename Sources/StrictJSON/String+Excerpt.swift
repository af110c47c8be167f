extension String {
    /// The beginning of untrusted text, for errors.
    var excerpt: String {
        let shown = String(unicodeScalars.prefix(80))
        return shown.utf8.count == utf8.count ? self : shown + "…"
    }
}
