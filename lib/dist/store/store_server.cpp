#include <thread>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "dist/core/start_thread.h"
#include "dist/store/server_loop.h"
#include "dist/store/tcp_store.h"

namespace dist {
namespace {

// The thread blocks all signals: the program's signals are for the program's own threads.
std::thread start_without_signals(ServerLoop& loop) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread = start_thread("the store", [&loop] { loop.run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace

struct StoreServer::Impl {
  Impl(const std::string& address, std::string token, const StoreLimits& limits)
      : loop(parse_address(address), std::move(token), limits), thread(start_without_signals(loop)) {}
  ~Impl() {
    if (getpid() != owner) {  // a fork: the thread and the connections are the parent's
      thread.detach();
      return;
    }
    loop.stop();
    thread.join();
    loop.shut_down();
  }
  const pid_t owner = getpid();
  ServerLoop loop;
  std::thread thread;
};

StoreServer::StoreServer(const std::string& address, std::string token, const StoreLimits& limits)
    : impl_(std::make_unique<Impl>(address, std::move(token), limits)) {}
StoreServer::~StoreServer() = default;

std::string StoreServer::address() const { return impl_->loop.address().str(); }
int StoreServer::port() const { return impl_->loop.address().port; }

}  // namespace dist
