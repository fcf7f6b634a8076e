// Passing users: numbers of users that exist only while something runs as them, of the range that systemd
// keeps for such use. A process that runs as one has no other of its user beside it: limits count its own
// processes alone, and what it leaves behind is known by its owner.
#pragma once

#include <memory>

#include <sys/types.h>

namespace judge {

class PassingUser {
 public:
  virtual ~PassingUser() = default;  // the number may be given again
  virtual uid_t id() const = 0;
};

// A user that no other grader on this machine has. Throws Trouble when all are taken.
std::shared_ptr<PassingUser> passing_user();

// Ends all processes of that user, and removes what it has written where every user may write; root's to do.
void clean_up_after(const PassingUser& user);

}  // namespace judge
