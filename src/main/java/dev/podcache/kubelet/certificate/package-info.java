/**
 * The client certificate of a node: requests it by a CertificateSigningRequest, keeps it in the files of a kubelet and
 * rotates it. Start with {@link dev.podcache.kubelet.certificate.NodeCertificate} and {@link
 * dev.podcache.kubelet.certificate.CertificateRotation}. Follows {@code pkg/kubelet/certificate/bootstrap}, {@code
 * client-go/util/certificate} and {@code client-go/util/certificate/csr}.
 *
 * <p>Read {@code NodeRequests} (one request after the other, and its files), {@code PendingRequest} (creates and watches one
 * CertificateSigningRequest), {@code RequestFailures} (what to say when there is no certificate), {@code SigningRequest}
 * (the PKCS#10 request and the name of the object), {@code CertifiedKey} (checks what was issued), {@code
 * CertificateFiles}. {@code KeyPairs} also serves {@code kubelet.server}.
 *
 * <p>Locks: {@code PendingRequest} guards what it knows of its object, {@code NodeRequests} its pending request; neither
 * calls anything under its lock.
 *
 * <p>Not API, except {@code CertificateRotation}, {@code NodeCertificate}: may change in any release.
 */
@NullMarked
package dev.podcache.kubelet.certificate;

import org.jspecify.annotations.NullMarked;
