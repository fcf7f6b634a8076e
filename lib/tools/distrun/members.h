// Members: the nodes that take part in an attempt, and how they are written into the store.
#pragma once

#include <string>
#include <vector>

namespace distrun {

struct Member {
  int arrival = 0;  // how many came before
  std::string name, role;
  int size = 0;     // how many ranks it has
  int number = -1;  // the node number that it must have; -1: any

  std::string text() const;  // without the arrival
  static Member parse(int arrival, const std::string& text);
};

struct Round {
  int restarts = 0;
  std::vector<Member> members;  // by node number

  bool has(const std::string& name) const;
};

// Those that must have a number get it; the others take what is left, in the order of their arrival.
std::vector<Member> in_order(const std::vector<Member>& members);

}  // namespace distrun
