// Every rank sends to the next one and then receives: with sends that wait for their receivers, no rank ever
// receives.
#include <dist/dist.h>

int main() {
  dist::spawn(4, [](int rank) {
    dist::init_process_group();
    const int n = dist::get_world_size();
    dist::Tensor mine = dist::full({1024}, rank), theirs = dist::zeros({1024});
    if (rank > 0) dist::recv(theirs, rank - 1);  // a relay goes well: rank 0 begins by sending
    if (rank + 1 < n) dist::send(mine, rank + 1);
    // [ring]
    dist::send(mine, (rank + 1) % n);
    dist::recv(theirs, (rank + n - 1) % n);
    // [/ring]
  });
}
