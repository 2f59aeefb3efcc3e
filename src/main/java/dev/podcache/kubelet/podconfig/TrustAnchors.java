package dev.podcache.kubelet.podconfig;

import dev.podcache.apiserver.credentials.PemText;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Merges trust bundles into the content of one file. Pure functions.
 *
 * <p>Follows {@code normalizeTrustAnchors} of the kubelet's {@code pkg/kubelet/clustertrustbundle}, whose order changes with each
 * start of the kubelet, so that nobody relies on it. Here it is that of the certificates' bytes, so that an agent that starts
 * again writes no file again.
 */
final class TrustAnchors {

    private static final String CERTIFICATE = "CERTIFICATE";

    private TrustAnchors() {}

    /**
     * Returns the certificates of all bundles, each once, as PEM: without headers and without what is between and beside
     * them. Neither the order of the bundles nor that of the certificates matters.
     */
    static byte[] merged(Iterable<String> bundles) {
        SortedSet<byte[]> certificates = new TreeSet<>(Arrays::compareUnsigned);
        for (String bundle : bundles) {
            certificates.addAll(PemText.ders(bundle, CERTIFICATE));
        }
        StringBuilder pem = new StringBuilder();
        for (byte[] certificate : certificates) {
            pem.append(PemText.of(CERTIFICATE, certificate));
        }
        return pem.toString().getBytes(StandardCharsets.US_ASCII);
    }
}
