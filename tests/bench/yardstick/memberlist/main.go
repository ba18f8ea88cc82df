// The work of bench_cluster, done by hashicorp/memberlist with its LAN configuration: a cluster in
// one process on loopback, one JSON object a line. The flags and the lines are those of
// bench_cluster.cpp, which says what they mean.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/memberlist"
)

var (
	size  = flag.Int("n", 100, "members")
	idle  = flag.Int("idle", 15, "seconds of idling that are measured")
	kills = flag.Int("kills", 3, "members that end, one after the other")
	mute  = flag.Int("mute", 0, "further ones, whose hosts are silent afterwards")
	mass  = flag.Int("mass", 0, "members that end together")
	port  = flag.Int("port", 20000, "first port")
	limit = flag.Int("limit", 120, "seconds that anything is waited for")
)

// What one member was told.
type witness struct {
	sync.Mutex
	present int
	lost    map[string]time.Time
}

func (w *witness) NotifyJoin(*memberlist.Node) {
	w.Lock()
	defer w.Unlock()
	w.present++
}

func (w *witness) NotifyUpdate(*memberlist.Node) {}

func (w *witness) NotifyLeave(node *memberlist.Node) {
	w.Lock()
	defer w.Unlock()
	w.present--
	if _, known := w.lost[node.Name]; !known {
		w.lost[node.Name] = time.Now()
	}
}

func (w *witness) sees() int {
	w.Lock()
	defer w.Unlock()
	return w.present
}

type village struct {
	members   []*memberlist.Memberlist
	witnesses []*witness
	ended     map[string]bool
	next      int
}

func nameOf(i int) string { return fmt.Sprintf("node-%04d", i) }

func say(line map[string]interface{}) {
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

func build() *village {
	v := &village{ended: map[string]bool{}, next: *size}
	for i := 0; i < *size; i++ {
		config := memberlist.DefaultLANConfig()
		config.Name = nameOf(i)
		config.BindAddr, config.AdvertiseAddr = "127.0.0.1", "127.0.0.1"
		config.BindPort, config.AdvertisePort = *port+i, *port+i
		config.LogOutput = io.Discard
		w := &witness{lost: map[string]time.Time{}}
		config.Events = w
		member, err := memberlist.Create(config)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		v.members, v.witnesses = append(v.members, member), append(v.witnesses, w)
	}
	return v
}

func (v *village) join() {
	since, used := time.Now(), processor()
	for _, member := range v.members[1:] {
		if _, err := member.Join([]string{fmt.Sprintf("127.0.0.1:%d", *port)}); err != nil {
			fmt.Fprintln(os.Stderr, "join:", err)
		}
	}
	issued := time.Since(since)
	complete := false
	for !complete && time.Since(since) < time.Duration(*limit)*time.Second {
		time.Sleep(time.Millisecond)
		complete = true
		for _, w := range v.witnesses {
			complete = complete && w.sees() == *size
		}
	}
	say(map[string]interface{}{"what": "join", "n": *size, "issued_s": issued.Seconds(),
		"all_see_all_s": time.Since(since).Seconds(), "complete": complete, "cpu_s": processor() - used})
}

func (v *village) rest() {
	time.Sleep(5 * time.Second)
	used := processor()
	bytes, packets := loopback()
	time.Sleep(time.Duration(*idle) * time.Second)
	laterBytes, laterPackets := loopback()
	per := float64(*idle) * float64(*size)
	say(map[string]interface{}{"what": "idle", "cpu_percent": 100 * (processor() - used) / per,
		"bytes_per_s": (laterBytes - bytes) / per, "packets_per_s": (laterPackets - packets) / per,
		"rss_kib": resident() / float64(*size)})
}

// Ends members; silences their ports if asked to; waits until every survivor knows.
func (v *village) end(what string, count int, silent bool) {
	since := time.Now()
	var victims []string
	for i := 0; i < count; i++ {
		v.next--
		victims = append(victims, nameOf(v.next))
		v.ended[nameOf(v.next)] = true
		v.members[v.next].Shutdown()
		if silent {
			address := fmt.Sprintf("127.0.0.1:%d", *port+v.next)
			net.ListenPacket("udp", address)
			net.Listen("tcp", address)
		}
	}
	first, last, all := 0.0, 0.0, false
	for !all && time.Since(since) < time.Duration(*limit)*time.Second {
		time.Sleep(2 * time.Millisecond)
		first, last, all = float64(*limit), 0, true
		for i, w := range v.witnesses {
			if v.ended[nameOf(i)] {
				continue
			}
			w.Lock()
			for _, victim := range victims {
				when, known := w.lost[victim]
				all = all && known
				if s := when.Sub(since).Seconds(); known {
					if s < first {
						first = s
					}
					if s > last {
						last = s
					}
				}
			}
			w.Unlock()
		}
	}
	say(map[string]interface{}{"what": what, "size": count, "first_s": first, "all_s": last, "complete": all})
}

func (v *village) close() {
	wrong := 0
	for i, w := range v.witnesses {
		w.Lock()
		for name := range w.lost {
			if !v.ended[nameOf(i)] && !v.ended[name] {
				wrong++
			}
		}
		w.Unlock()
	}
	say(map[string]interface{}{"what": "end", "wrong_failures": wrong})
}

func processor() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// The fields of the first line of a file that begins with a word.
func fields(path, word string) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if line := strings.TrimSpace(lines.Text()); strings.HasPrefix(line, word) {
			return strings.Fields(strings.TrimPrefix(line, word))
		}
	}
	return nil
}

func loopback() (bytes, packets float64) {
	if found := fields("/proc/net/dev", "lo:"); len(found) > 1 {
		fmt.Sscan(found[0], &bytes)
		fmt.Sscan(found[1], &packets)
	}
	return
}

func resident() (kib float64) {
	if found := fields("/proc/self/status", "VmRSS:"); len(found) > 0 {
		fmt.Sscan(found[0], &kib)
	}
	return
}

func main() {
	flag.Parse()
	if *size < 2 || *kills+*mute+*mass >= *size {
		fmt.Fprintln(os.Stderr, "one member has to see the others end")
		os.Exit(2)
	}
	v := build()
	v.join()
	if *idle > 0 {
		v.rest()
	}
	for i := 0; i < *kills; i++ {
		v.end("crash", 1, false)
	}
	for i := 0; i < *mute; i++ {
		v.end("mute", 1, true)
	}
	if *mass > 0 {
		v.end("mass", *mass, false)
	}
	v.close()
}
