import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultHTTP
import VaultTransport

/// Files of certificate authorities; their use is tested with redirects and proxies.
@Suite struct CertificateAuthoritiesTests {
    @Test func missingFileIsReported() throws {
        let error = #expect(throws: VaultError.self) { try CertificateAuthorities(pem: "/nowhere/at.all") }
        #expect(error?.category == .missing)
    }

    @Test(arguments: [
        "", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ])
    func fileWithoutCertificatesIsCorrupt(text: String) async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "authority.pem")
            try Data(text.utf8).write(to: file)
            let error = #expect(throws: VaultError.self) {
                try CertificateAuthorities(pem: FilePath(file.path))
            }
            #expect(error?.category == .corrupt)
            #expect(error?.place == file.path)
        }
    }
}
