package dev.podcache.kubelet.server;

/** The certificate of the server, with its chain, and its private key, both in PEM format. Immutable. */
final class ServingCertificate {

    private final byte[] certificates;
    private final byte[] key;

    /** Creates an instance of arrays that must not be modified afterwards. */
    ServingCertificate(byte[] certificates, byte[] key) {
        this.certificates = certificates;
        this.key = key;
    }

    byte[] certificates() {
        return certificates;
    }

    byte[] key() {
        return key;
    }
}
