/**
 * Who the client is and how it reaches the server: kubeconfigs, the service account of a pod, proxies, keys, certificates,
 * tokens, credential plugins. Reads them as kubectl does; whatever kubectl refuses is refused by file, field and remedy,
 * never with a value. Nothing here opens a connection to the server.
 *
 * <p>Read {@code Kubeconfig} with {@code KubeconfigReader} and {@code KubeconfigEntries}, {@code KubeconfigSource}; {@code
 * ServerUrl}, {@code ProxyRules}, {@code HeaderValues}; {@code PemText}, {@code PrivateKeys}, {@code ClientKeys}, {@code
 * Authorities}; {@code CredentialPlugin}; then {@code Credentials}, {@code IdentityReader}, {@code Identity}, {@code
 * ConnectionSettings}.
 *
 * <p>Credentials are read by one thread at a time, of {@link dev.podcache.time.Timekeeper#urgent()}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th><th>locks taken inside it</th></tr>
 * <tr><td>{@code Credentials}</td><td>the known result, the read in progress</td><td>none</td></tr>
 * <tr><td>{@code KubeconfigSource}</td><td>the token for fabric8's own client</td><td>none of this library</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.apiserver.credentials;

import org.jspecify.annotations.NullMarked;
