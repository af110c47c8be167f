public import VaultTransport

// The only place that depends on the package's trait HTTP: without it no HTTP client is built.
#if HTTP
    @_exported public import VaultHTTP

    extension VaultConfiguration {
        /// Reads http, https and folders.
        public static var standardTransport: any Transport { SchemeTransport() }
    }
#else
    extension VaultConfiguration {
        /// Reads folders only, since the package's trait HTTP is disabled. It throws `.usage` for a URL.
        public static var standardTransport: any Transport { FileTransport() }
    }
#endif
