// The yardstick of bench_ring.sh: the classic ring as plain Go writes it: a sorted []uint32 of CRC-32 (IEEE) points
// labelled "{node}#{i}", a map from point to node, a read-write lock, a binary search.
package yardstick

import (
	"fmt"
	"hash/crc32"
	"sort"
	"sync"
	"testing"
)

type ring struct {
	mu     sync.RWMutex
	points []uint32
	owner  map[uint32]string
}

func (r *ring) insert(node string) {
	for i := 0; i < 150; i++ {
		h := crc32.ChecksumIEEE([]byte(fmt.Sprintf("%s#%d", node, i)))
		r.owner[h] = node
		r.points = append(r.points, h)
	}
}

func (r *ring) order() {
	sort.Slice(r.points, func(a, b int) bool { return r.points[a] < r.points[b] })
}

func (r *ring) add(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.insert(node)
	r.order()
}

func (r *ring) get(key string) (string, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.points) == 0 {
		return "", false
	}
	h := crc32.ChecksumIEEE([]byte(key))
	i := sort.Search(len(r.points), func(i int) bool { return r.points[i] >= h })
	return r.owner[r.points[i%len(r.points)]], true
}

func build(n int) *ring {
	r := &ring{owner: map[uint32]string{}}
	for i := 0; i < n; i++ {
		r.insert(fmt.Sprintf("10.0.%d.%d:6379", i/250, i%250))
	}
	r.order()
	return r
}

var keys = func() (k []string) {
	for i := 0; i < 1<<16; i++ {
		k = append(k, fmt.Sprintf("user:%d", i*7919))
	}
	return
}()

func BenchmarkGet(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10000} {
		r := build(n)
		b.Run(fmt.Sprintf("nodes=%d/one", n), func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				r.get(keys[i&65535])
			}
		})
		b.Run(fmt.Sprintf("nodes=%d/all-cores", n), func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					r.get(keys[i&65535])
				}
			})
		})
	}
}

func BenchmarkAdd1000(b *testing.B) {
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		r := build(1000)
		b.StartTimer()
		r.add("10.9.9.9:6379")
	}
}
