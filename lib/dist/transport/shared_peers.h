// SharedPeers: what an endpoint lends to collectives that work in the ranks' shared memory instead of sending
// messages (direct/): what this rank maps of each peer, room in its own shared segment, waiting for memory
// that a peer writes, and errors that read like those of messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "dist/core/memory/prefaulted_pages.h"
#include "dist/transport/endpoint.h"
#include "dist/transport/link/area_pool.h"
#include "dist/transport/link/shared_segment.h"
#include "dist/transport/report.h"

namespace dist {

// Peers are global ranks. Thread-safe.
class SharedPeers {
 public:
  // A peer whose memory this rank maps.
  struct Peer {
    net::SharedSegment& shared_segment;  // its areas and its doorbell
    std::ptrdiff_t shift;                // from the addresses of its arena to ours
    PrefaultedPages* pages;              // its arena's pages, as mapped here; null: nothing to map
    bool is_thread;                      // all of its memory is mapped, not only its arena
  };

  virtual int rank() const = 0;
  virtual bool has_cores() const = 0;                // every rank of this host has a core of its own
  virtual std::optional<Peer> mapped(int peer) = 0;  // this rank itself, too
  virtual net::AreaPool& areas() = 0;                // of this rank's shared segment
  virtual std::unique_ptr<Transport> open(TransportOptions options) = 0;

  // Blocks until arrived(), which polls memory that `peer` writes before it rings. Throws the same errors as
  // waiting for a message.
  virtual void await_memory(TransportOptions options, int peer, const std::function<bool()>& arrived) = 0;
  // The same without an error: returns when it is released, or when the peer is gone or seems stopped.
  virtual void await_release(int peer, const std::function<bool()>& released) noexcept = 0;

  // Errors of the running operation, to be thrown. `theirs`: what the peer published, in the form of a
  // message; `bytes`: what this rank needs from it.
  virtual Error misfit(TransportOptions options, int peer, std::uint64_t bytes,
                       const net::Misfit& theirs) = 0;
  // The peer calls the same, but called another operation before.
  virtual Error earlier_misfit(TransportOptions options, int peer, std::uint32_t theirs,
                               std::uint32_t mine) = 0;
  virtual Error other_algorithm(TransportOptions options, int peer) = 0;
  virtual Error withdrawal(TransportOptions options, int peer) = 0;  // it has given up

 protected:
  ~SharedPeers() = default;
};

}  // namespace dist
