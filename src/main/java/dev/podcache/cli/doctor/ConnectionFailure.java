package dev.podcache.cli.doctor;

import com.google.common.base.Throwables;
import dev.podcache.object.Quoted;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.security.SignatureException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.List;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;

/** Says why there is no connection, from what the attempt threw. */
final class ConnectionFailure {

    private static final String NO_READS = "nothing can be read; a running cache serves what it knows, marked stale";

    private ConnectionFailure() {}

    /** Returns the problem. */
    static Diagnosis of(Throwable failure) {
        List<Throwable> causes = Throwables.getCausalChain(failure);
        String detail = Quoted.text(String.valueOf(failure.getMessage()));
        if (causes.stream().anyMatch(SSLException.class::isInstance)) {
            return ofTls(causes, detail);
        }
        if (isOf(causes, UnknownHostException.class)) {
            return Diagnosis.problem(
                    "server",
                    detail,
                    NO_READS,
                    "correct the host in the kubeconfig's server, or the DNS of this machine");
        }
        if (isOf(causes, ConnectException.class)) {
            return Diagnosis.problem(
                    "server",
                    detail,
                    NO_READS,
                    "check that the API server runs there, the port in the kubeconfig's server, and firewalls");
        }
        if (isOf(causes, TimeoutException.class)) {
            return Diagnosis.problem(
                    "server",
                    detail,
                    NO_READS,
                    "check firewalls and load balancers on the way; behind a proxy, proxy-url in the kubeconfig, or"
                            + " HTTPS_PROXY and NO_PROXY");
        }
        return Diagnosis.problem(
                "server",
                detail,
                NO_READS,
                "check the kubeconfig's server: its scheme, host and port; behind a proxy, also HTTPS_PROXY and NO_PROXY");
    }

    private static Diagnosis ofTls(List<Throwable> causes, String detail) {
        String root = Quoted.text(String.valueOf(causes.get(causes.size() - 1).getMessage()));
        if (isOf(causes, CertificateExpiredException.class)) {
            return tls(
                    "the server's certificate has expired (" + root + ")",
                    "renew it: `kubeadm certs renew apiserver`, or in the proxy that ends TLS; if that date has not"
                            + " come yet, set the clock of this machine");
        }
        if (isOf(causes, CertificateNotYetValidException.class)) {
            return tls(
                    "the server's certificate is not valid yet (" + root + ")",
                    "set the clock of this machine; if it is right, set the clock of the machine that issued it, and"
                            + " issue it again");
        }
        boolean otherAuthority = isOf(causes, CertPathBuilderException.class)
                || isOf(causes, CertPathValidatorException.class)
                || isOf(causes, SignatureException.class);
        if (otherAuthority) {
            return tls(
                    "the server's certificate is not from the authority in the kubeconfig (" + root + ")",
                    "put the certificate of the cluster's authority into certificate-authority-data; if a proxy ends"
                            + " TLS, that of the proxy's authority");
        }
        if (root.contains("No subject alternative") || root.contains("No name matching")) {
            return tls(
                    "the server's certificate is for other names (" + root + ")",
                    "use one of its names in the kubeconfig's server, or set tls-server-name to one of them");
        }
        if (root.contains("Received fatal alert")) {
            return tls(
                    "the server refuses the client certificate or the TLS version (" + root + ")",
                    "use a client certificate of the cluster's authority that is valid now");
        }
        return tls(
                detail, "check that the kubeconfig's server speaks TLS at that port, and certificate-authority-data");
    }

    private static Diagnosis tls(String what, String remedy) {
        return Diagnosis.problem("tls", what, NO_READS, remedy);
    }

    private static boolean isOf(List<Throwable> causes, Class<? extends Throwable> type) {
        return causes.stream().anyMatch(type::isInstance);
    }
}
