#include "dist/core/memory/private_fd.h"

#include <mutex>
#include <set>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace dist {
namespace {

// Never destroyed: descriptors are closed until the very end of the process.
class Registry {
 public:
  static Registry& instance() {
    static Registry& registry = *new Registry;
    return registry;
  }
  void add(int fd) {
    const std::lock_guard lock(mutex_);
    fds_.insert(fd);
  }
  void remove(int fd) {
    const std::lock_guard lock(mutex_);
    fds_.erase(fd);
  }

 private:
  Registry() {
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] { instance().cut_off(); });
  }

  // Runs in the child. The numbers stay in use, because objects that the child has copies of will close them.
  void cut_off() {
    if (const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC)); nothing)
      for (const int fd : fds_) ::dup3(nothing.get(), fd, O_CLOEXEC);
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::set<int> fds_;
};

}  // namespace

PrivateFd::PrivateFd(UniqueFd fd) : fd_(std::move(fd)) {
  if (fd_) Registry::instance().add(fd_.get());
}

PrivateFd& PrivateFd::operator=(PrivateFd&& other) noexcept {
  if (this == &other) return *this;
  reset();
  fd_ = std::move(other.fd_);
  return *this;
}

// The number leaves the list first: another descriptor may get it as soon as it is closed.
void PrivateFd::reset() noexcept {
  if (fd_) Registry::instance().remove(fd_.get());
  fd_.reset();
}

}  // namespace dist
