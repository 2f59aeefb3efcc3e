package dev.podcache.apiserver.stream;

import io.vertx.core.Context;
import io.vertx.core.http.HttpClient;
import io.vertx.core.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A Vert.x client that may hold one connection, and whatever was read and looked up for it.
 *
 * @param address null if a proxy looks it up
 */
record HeartbeatWire(HttpClient http, @Nullable SocketAddress address, Context loop) {}
